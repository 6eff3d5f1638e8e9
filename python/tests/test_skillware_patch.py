"""`docs/integrations/skillware.patch` applied to the pinned Skillware, and what it does there."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("skillware")

from made_skills import write_skill

REPOSITORY = Path(__file__).resolve().parents[2]
PATCH = REPOSITORY / "docs" / "integrations" / "skillware.patch"
SDIST = ("0.6.0", "2350dc875898c69a188e566d70eb3879db8a6ef97d357353089ba06d3175f640")
OWN_TESTS = [
    "test_loader", "test_skill_context", "test_secrets", "test_validate_params", "test_base_skill", "test_manifest_schema",
    "test_async_execution", "test_chains",
]  # fmt: skip
#: Of Skillware's own tests, those that can't pass with isolated skills, and why.
LOOKS_INSIDE = {
    "test_load_skill_module_import_error_after_preflight": "a skill is imported in its cell, at its first call",
    "test_load_skill_missing_requirements_suggests_skill_extra": "packages of the host's process are not looked for",
    "test_load_skill_rejects_unsatisfied_version_specifier": "packages of the host's process are not looked for",
    "test_discover_skill_class_requires_exactly_one_subclass": "classes are looked for in the cell, at its first call",
    "test_discover_skill_class_rejects_multiple_subclasses": "classes are looked for in the cell, at its first call",
    "test_skill_context_re_resolves_secrets_each_execute": "it reads an attribute that the skill's constructor sets",
    "test_skill_context_accepts_secret_mapping": "it reads an attribute that the skill's constructor sets",
}
REWRITE = {"raw_text": "Please be so kind as to help.", "compression_aggression": "high"}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Skillware's source as it is, and patched."""
    version, digest = SDIST
    pins = tomllib.loads((REPOSITORY / "runtime-assets" / "pins.toml").read_text())
    assert next(one for one in pins["package"] if one["name"] == "skillware")["version"] == version
    folder = tmp_path_factory.mktemp("skillware")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", f"skillware=={version}"]
    got = subprocess.run([*command, "-q", "-d", str(folder)], capture_output=True, text=True, timeout=180)
    archive = folder / f"skillware-{version}.tar.gz"
    if not archive.exists():
        pytest.skip(f"pip can't get Skillware's source: {got.stderr.strip()[-200:]}")
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == digest
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    plain = folder / f"skillware-{version}"
    patched = folder / "patched"
    shutil.copytree(plain, patched)
    subprocess.run(["patch", "-s", "-p1", "-i", str(PATCH)], cwd=patched, check=True, timeout=30)
    return {"plain": plain, "patched": patched}


def run_python(source: Path, *arguments: str, mode: str | None = None) -> subprocess.CompletedProcess[str]:
    # `skills` is a package of Skillware's: the source's own comes before the installed one.
    places = os.pathsep.join([str(source), *(one for one in sys.path if one)])
    env = {**os.environ, "PYTHONPATH": places, **({"SKILLWARE_EXECUTION_MODE": mode} if mode else {})}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, timeout=240)


def run_own_tests(source: Path, mode: str | None = None) -> tuple[set[str], int]:
    """The names of those of Skillware's own tests that fail, and how many pass."""
    files = [f"tests/{name}.py" for name in OWN_TESTS]
    done = run_python(source, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, mode=mode)
    counted = re.search(r"(\d+) passed", done.stdout)
    assert counted, done.stdout + done.stderr
    return set(re.findall(r"^FAILED \S+::(\w+)", done.stdout, re.MULTILINE)), int(counted.group(1))


def test_without_isolation_nothing_changes(sources: dict[str, Path]) -> None:
    assert run_own_tests(sources["patched"]) == run_own_tests(sources["plain"])


def test_with_isolation_skillwares_own_tests_pass_but_those_that_look_inside(sources: dict[str, Path]) -> None:
    failed, passed = run_own_tests(sources["patched"], mode="isolated")
    assert failed == set(LOOKS_INSIDE) and passed > 90


@pytest.mark.parametrize("way", ["argument", "operator", "manifest"])
def test_whoever_asks_for_isolation_gets_it(sources: dict[str, Path], tmp_path: Path, way: str) -> None:
    mark = tmp_path / "mark"
    touch = f"try:\n    open({str(mark)!r}, 'w')\nexcept OSError:\n    pass\n"
    manifest = "execution_mode: isolated\n" if way == "manifest" else ""
    folder = write_skill(tmp_path / "hostile", "return 'ran'", before=touch, manifest=manifest)
    argument = ", execution_mode='isolated'" if way == "argument" else ""
    script = (
        "from skillware.core.loader import SkillLoader\n"
        f"bundle = SkillLoader.load_skill({str(folder)!r}{argument})\n"
        "print(bundle['class']().execute({}))\n"
    )
    done = run_python(sources["patched"], "-c", script, mode="isolated" if way == "operator" else None)
    assert (done.stdout, done.returncode) == ("ran\n", 0), done.stderr
    assert not mark.exists()
    # And natively it leaves its mark.
    native = write_skill(tmp_path / "native", "return 'ran'", before=touch)
    assert (
        run_python(sources["patched"], "-c", script.replace(str(folder), str(native)).replace(argument, "")).returncode
        == 0
    )
    assert mark.exists()


def test_a_mode_that_does_not_exist_runs_nothing(sources: dict[str, Path], tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "typo", "return 1", manifest="execution_mode: isolatd\n")
    script = f"from skillware.core.loader import SkillLoader\nSkillLoader.load_skill({str(folder)!r})\n"
    assert "Invalid execution_mode 'isolatd'" in run_python(sources["patched"], "-c", script).stderr


def test_execute_isolated_and_the_command(sources: dict[str, Path]) -> None:
    name = "optimization/prompt_rewriter"
    script = (
        "import json\nfrom skillware.core.loader import SkillLoader\n"
        f"native = SkillLoader.load_skill({name!r})\n"
        f"ours = [SkillLoader.execute_isolated(one, {REWRITE!r}, timeout=30) for one in (native, {name!r})]\n"
        f"print(ours == [native['class']().execute({REWRITE!r})] * 2)\n"
    )
    assert run_python(sources["patched"], "-c", script).stdout == "True\n"
    command = ["-m", "skillware", "run", name, "--params", json.dumps(REWRITE)]
    isolated, native = run_python(sources["patched"], *command, "--isolated"), run_python(sources["patched"], *command)
    assert json.loads(isolated.stdout.splitlines()[-1]) == json.loads(native.stdout.splitlines()[-1])


def test_without_the_extra_it_says_how_to_get_it(sources: dict[str, Path]) -> None:
    script = (
        "import sys\nsys.modules['skillcell'] = None\nfrom skillware.core.loader import SkillLoader\n"
        "SkillLoader.load_skill('optimization/prompt_rewriter', execution_mode='isolated')\n"
    )
    assert 'pip install "skillware[isolated]"' in run_python(sources["patched"], "-c", script).stderr
