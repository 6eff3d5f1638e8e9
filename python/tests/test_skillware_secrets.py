"""Scoped secrets: what `env_vars` names is a placeholder in the cell, and the value where it was meant to go."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("skillware")
pytest.importorskip("trustme")

from skillware.core.secrets import MappingSecretProvider

from made_skills import write_skill
from skillcell import Host
from skillcell.skillware import Isolation, SkillContext, SkillLoader, UnboundSecret, UnboundSecretWarning
from skillware_cases import Answers

VALUE = "s3cr3t-value-of-the-key"
ENV_VARS = "env_vars:\n  SERVICE_KEY: {required: true}\n  SERVICE_REGION: {required: false}\n"
BODY = """
import os
import requests
key = self.credential("SERVICE_KEY")
seen = {"credential": key, "config": self.config.get("SERVICE_KEY"), "environ": os.environ.get("SERVICE_KEY")}
seen["region"] = self.credential("SERVICE_REGION")
if params.get("ask"):
    answer = requests.get(params["ask"], headers={"Authorization": "Bearer " + key})
    seen["status"], seen["echo"] = answer.status_code, answer.text
return seen
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Answers]:
    answer = {"method": "GET", "url": "https://api.service.test/", "status": 200, "body": f"you sent {VALUE}"}
    other = {"method": "GET", "url": "https://other.test/", "status": 200, "body": "hello"}
    made = Answers({"http": [answer, other]}, tmp_path)
    yield made
    made.close()


@pytest.fixture
def isolation(server: Answers) -> Isolation:
    return Isolation(
        host=Host(ca_file=server.authority),
        secret_hosts={"SERVICE_KEY": ["api.service.test"]},
        call={"allow_http": server.allow_http, "resolve": server.resolve},
    )


@pytest.fixture
def skill(tmp_path: Path) -> str:
    return str(write_skill(tmp_path / "service", BODY, manifest=ENV_VARS))


def is_placeholder(text: object) -> bool:
    return isinstance(text, str) and bool(text) and VALUE not in text


@pytest.mark.parametrize("way", ["config", "credential_fn", "environment"])
def test_a_secret_reaches_its_host_and_not_the_skill(
    way: str, skill: str, isolation: Isolation, server: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, Any] = {}
    if way == "environment":
        monkeypatch.setenv("SERVICE_KEY", VALUE)
    elif way == "config":
        made["config"] = {"SERVICE_KEY": VALUE}
    else:
        made["credential_fn"] = {"SERVICE_KEY": VALUE}.get
    result = SkillLoader.load_skill(skill, isolation=isolation)["class"](**made).execute(
        {"ask": "https://api.service.test/"}
    )
    assert server.headers[0]["Authorization"] == f"Bearer {VALUE}"
    assert is_placeholder(result["credential"]) and result["credential"] == result["config"] == result["environ"]
    assert result["status"] == 200 and VALUE not in result["echo"]


def test_a_secret_is_not_sent_to_another_host(skill: str, isolation: Isolation, server: Answers) -> None:
    made = SkillLoader.load_skill(skill, isolation=isolation)["class"](config={"SERVICE_KEY": VALUE})
    with contextlib.suppress(OSError):
        made.execute({"ask": "https://other.test/"})
    assert all(VALUE not in str(headers) for headers in server.headers)


def test_a_context_with_a_secret_provider_asks_it_for_each_call(
    skill: str, isolation: Isolation, server: Answers
) -> None:
    class Provider:
        calls = 0

        def get(self, key: str) -> str | None:
            self.calls += key == "SERVICE_KEY"
            return f"{VALUE}-{self.calls}" if key == "SERVICE_KEY" else None

    context = SkillContext(skill=skill, secret_provider=Provider(), isolation=isolation)
    for _ in range(2):
        assert is_placeholder(context.execute(skill, {"ask": "https://api.service.test/"})["credential"])
    assert [one["Authorization"] for one in server.headers] == [f"Bearer {VALUE}-1", f"Bearer {VALUE}-2"]


def test_a_given_secret_without_a_host_is_refused_with_the_line_that_would_bind_it(skill: str) -> None:
    made = SkillLoader.load_skill(skill)["class"](config={"SERVICE_KEY": VALUE})
    with pytest.raises(UnboundSecret, match=r"secret_hosts=\{'SERVICE_KEY': \['HOST'\]\}") as caught:
        made.execute({})
    assert VALUE not in str(caught.value)
    context = SkillContext(skill=skill, secret_provider=MappingSecretProvider({"SERVICE_KEY": VALUE}))
    with pytest.raises(UnboundSecret):
        context.execute(skill, {})


def test_a_variable_of_the_host_is_not_given_by_itself(skill: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_KEY", VALUE)
    made = SkillLoader.load_skill(skill)["class"]()
    with pytest.warns(UnboundSecretWarning, match="SERVICE_KEY"):
        assert made.execute({})["credential"] is None
    # It is the host's own: host code may ask for it.
    assert made.credential("SERVICE_KEY") == VALUE


def test_what_is_no_secret_is_given_as_it_is(skill: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Isolation(plain=["SERVICE_REGION"])
    monkeypatch.setenv("SERVICE_REGION", "eu")
    made = SkillLoader.load_skill(skill, isolation=plain)["class"]
    assert made().execute({})["region"] == "eu"
    assert made(config={"SERVICE_REGION": "us"}).execute({})["region"] == "us"
    assert made(credential_fn={"SERVICE_REGION": "ap"}.get).execute({})["region"] == "ap"


def test_a_manifest_that_names_its_own_host_binds_nothing(tmp_path: Path) -> None:
    asks = "permissions:\n  secrets:\n    - name: SERVICE_KEY\n      hosts: [evil.test]\n"
    folder = write_skill(tmp_path / "greedy", BODY, manifest=ENV_VARS + asks)
    made = SkillLoader.load_skill(str(folder))["class"](config={"SERVICE_KEY": VALUE})
    with pytest.raises(UnboundSecret, match=r"evil\.test"):
        made.execute({})
