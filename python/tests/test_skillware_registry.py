"""The whole of Skillware's registry through the drop-in: bundles as its own loader gives them, and every recorded call."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("skillware")
pytest.importorskip("trustme")

from skillware.core.discovery import bundled_skills_root, list_registry_skill_ids
from skillware.core.loader import SkillLoader as RealLoader

from skillcell import Host, Raised, Refused, SkillcellError
from skillcell.skillware import Isolation, SkillLoader, SkillwareParamValidationError
from skillware_cases import Answers, expected_difference, lay_files, recorded_cases, without

CASES = recorded_cases()
#: Of credentials that cases give as config, those that a skill computes with, or sends somewhere.
PLAIN = ["AGENT_WALLET_PRIVATE_KEY"]
SECRET_HOSTS = {
    "ETHERSCAN_API_KEY": ["api.etherscan.io"],
    "COMPANIES_HOUSE_API_KEY": [
        "api.company-information.service.gov.uk",
        "document-api.company-information.service.gov.uk",
    ],
}
#: A module that a cell can't use should show as a different result, not as a refusal.
NO_USE_IN_CELLS = ["ctypes", "multiprocessing", "socket", "subprocess"]


@pytest.mark.parametrize("skill", list_registry_skill_ids(bundled_skills_root()))
def test_a_bundle_is_what_skillwares_loader_gives(skill: str) -> None:
    real = RealLoader.load_skill(skill, check_requirements=False, execute_module=False)
    ours = SkillLoader.load_skill(skill)
    assert {**ours, "class": None, "module": None} == real
    for adapter in ("to_claude_tool", "to_openai_tool", "to_deepseek_tool", "to_bedrock_tool", "to_ollama_prompt"):
        assert getattr(SkillLoader, adapter)(ours) == getattr(RealLoader, adapter)(real)
    assert getattr(ours["module"], ours["class"].__name__) is ours["class"]
    assert ours["class"]().manifest == real["manifest"]


def test_the_registry_is_all_there() -> None:
    assert len(list_registry_skill_ids(bundled_skills_root())) == 28
    assert {case["skill"] for case in CASES} <= set(list_registry_skill_ids(bundled_skills_root()))


@pytest.fixture
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    made = Answers(request.param, tmp_path_factory.mktemp("authority"))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("case", "answers"), [(case, case) for case in CASES], ids=[case["id"] for case in CASES], indirect=["answers"]
)
def test_a_recorded_call_gives_what_it_gave_natively(
    case: dict[str, Any], answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = make_skill(case, answers, tmp_path, monkeypatch)
    if expected_difference(case) is not None:
        # It differs, for the reason in `expectations.toml`: aloud, never as another result.
        with pytest.raises(SkillcellError):
            skill.execute(case["params"])
    else:
        compare_result(case, skill, answers)


#: What differs in a cell, without what compiles for minutes when it is imported: numba, in any tier.
DIFFERENT = [case for case in CASES if expected_difference(case) and case["skill"] != "creative/bg_remover"]


@pytest.mark.parametrize(
    ("case", "answers"),
    [(case, case) for case in DIFFERENT],
    ids=[case["id"] for case in DIFFERENT],
    indirect=["answers"],
)
def test_what_differs_in_a_cell_is_equal_in_a_sandboxed_process(
    case: dict[str, Any], answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = make_skill(case, answers, tmp_path, monkeypatch, tier="subprocess")
    try:
        compare_result(case, skill, answers)
    except Refused as refused:
        # This machine has no such tier: then that is what a user is told.
        assert [denial.kind for denial in refused.denials] == ["tier"]
    assert skill.last_report.tier == "subprocess"


def compare_result(case: dict[str, Any], skill: Any, answers: Answers) -> None:
    """Makes the call: result, exception, requests and what `validate_params` says are as they were natively."""
    if "raises" in case:
        with pytest.raises(Raised) as caught:
            skill.execute(case["params"])
        assert caught.value.type.rpartition(".")[2] == case["raises"]["type"]
        assert caught.value.message == case["raises"]["message"]
    else:
        ignored = [*case.get("nondeterministic", []), *notes_of(case)]
        assert without(skill.execute(case["params"]), ignored) == without(case["expected"], ignored)
    asked = [{name: one[name] for name in ("method", "url", "body")} for one in case.get("http_requests", [])]
    assert answers.requests == asked
    compare_check(case, skill)


def make_skill(
    case: dict[str, Any], answers: Answers, folder: Path, monkeypatch: pytest.MonkeyPatch, tier: str = "wasm"
) -> Any:
    """An instance of the case's skill, with what the case was recorded with."""
    isolation = Isolation(
        host=Host(ca_file=answers.authority) if answers.servers else None,
        timeout=60,
        secret_hosts=SECRET_HOSTS,
        plain=PLAIN,
        call={
            "mounts": lay_files(case, folder),
            "allow_http": answers.allow_http,
            "resolve": answers.resolve,
            "tier": tier,
            "env": {name: value for name, value in case.get("env", {}).items() if name not in SECRET_HOSTS},
            "allow_imports": NO_USE_IN_CELLS,
        },
    )
    for name, value in case.get("env", {}).items():
        monkeypatch.setenv(name, value)
    skill_class = SkillLoader.load_skill(case["skill"], isolation=isolation)["class"]
    return skill_class(config=case["config"]) if "config" in case else skill_class()


def notes_of(case: dict[str, Any]) -> list[str]:
    return [note.split(" ")[0] for note in case.get("nondeterministic_notes", [])]


def compare_check(case: dict[str, Any], skill: Any) -> None:
    """What `validate_params` said, word by word."""
    if case.get("validate_params") is True:
        assert skill.validate_params(case["params"]) is True
    elif "validate_params" in case:
        with pytest.raises(SkillwareParamValidationError) as caught:
            skill.validate_params(case["params"])
        assert f"SkillwareParamValidationError: {caught.value}" == case["validate_params"]
