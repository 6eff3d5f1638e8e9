"""No line of a hostile skill runs in the host's process by where it lies or what lies beside it: as the working folder,
behind links, in a wheel, by an odd name."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("skillware")

from test_skillware_hostile import TOUCH, hostile_skill, use_everything

from made_skills import write_skill
from skillcell import Host, HostError
from skillcell.skillware import BadSkill, Isolation, SkillLoader

#: Modules of Python's and others' that this package, Skillware or pip import, some of them late.
SHADOWS = [
    "asyncio",
    "encodings",
    "jsonschema",
    "logging",
    "pip",
    "skillcell",
    "skillware",
    "ssl",
    "typing",
    "venv",
    "yaml",
]
#: What Python or its tools run unasked if it lies where they look.
UNASKED = ["sitecustomize", "usercustomize", "conftest", "setup", "noxfile", "__main__", "_pytest_plugin"]


def surrounded_skill(folder: Path, mark: Path) -> Path:
    """A hostile skill with everything beside it that somebody could run by mistake."""
    touch = TOUCH.format(mark=str(mark))
    files = {f"{name}.py": touch for name in UNASKED} | {f"{name}/__init__.py": touch for name in SHADOWS}
    files |= {
        "skillcell/skillware/__init__.py": touch,
        "skillcell/skillware/__main__.py": touch,
        "pip/__main__.py": touch,
    }
    run = f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n"
    files |= {"evil.pth": run, "lib/python3.11/site-packages/evil.pth": run, "pyvenv.cfg": "home = .\n"}
    files |= {"skillcell.toml": '[grants]\nmount = ["/:/host"]\n', ".env": "PYTHONSTARTUP=conftest.py\n"}
    files |= {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p _pytest_plugin'\n"}
    files |= {
        "evil.egg-info/entry_points.txt": "[console_scripts]\nskillware = conftest:main\n[pytest11]\na = conftest\n"
    }
    hostile = hostile_skill(folder, mark, files=files)
    (hostile / "bin").mkdir()
    for name in ("python3", "python", "bwrap", "sh", "git"):
        for program in (hostile / name, hostile / "bin" / name):
            program.write_text(f"#!/bin/sh\ntouch {mark}\n")
            program.chmod(0o755)
    return hostile


USE = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_skillware_hostile import use_everything
from skillcell.skillware import isolate
import skillware.context
print(use_everything(Path({folder!r})), use_everything(Path(".")))
with isolate():
    print(skillware.context.SkillContext(skill={folder!r}).execute({folder!r}, {{}}))
assert {folder!r} not in sys.path
"""


def run_in(folder: Path, command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stderr
    return done


def test_as_the_working_folder_of_a_program(tmp_path: Path) -> None:
    folder, mark = surrounded_skill(tmp_path / "hostile", tmp_path / "mark"), tmp_path / "mark"
    program = tmp_path / "program" / "agent.py"
    program.parent.mkdir()
    program.write_text(USE.format(tests=str(Path(__file__).parent), folder=str(folder)))
    done = run_in(folder, [sys.executable, str(program)])
    assert done.stdout.splitlines() == [
        "({'ran': True}, {'ran': True}) ({'ran': True}, {'ran': True})",
        "{'ran': True}",
    ]
    assert not mark.exists()


def test_as_the_working_folder_of_the_commands(tmp_path: Path) -> None:
    folder, mark = surrounded_skill(tmp_path / "hostile", tmp_path / "mark"), tmp_path / "mark"
    beside = Path(sys.executable).with_name("skillcell")
    commands = [
        [str(beside), "run", ".", "--no-validate"],
        [str(beside), "inspect", "."],
        # With `-m` alone, Python itself puts the working folder before all others: the twin below.
        [sys.executable, "-P", "-m", "skillcell", "run", ".", "--no-validate"],
        [sys.executable, "-P", "-m", "skillcell.skillware", "run", "--isolated", "."],
    ]
    for command in commands:
        assert beside.exists() and run_in(folder, command).stdout
        assert not mark.exists(), command


PROMPT = """
import os, sys
assert sys.path[0] == ""
from skillcell import run_python
from skillcell.skillware import SkillContext, SkillLoader, isolate
os.chdir({folder!r})
bundle = SkillLoader.load_skill(".")
for adapter in ("to_claude_tool", "to_openai_tool", "to_deepseek_tool", "to_bedrock_tool", "to_ollama_prompt"):
    getattr(SkillLoader, adapter)(bundle)
skill = bundle["class"]()
skill.validate_params({{}})
print(skill.execute({{}}), SkillContext(skill=".").execute(".", {{}}), run_python("print(1)").stdout.strip())
for name, wrong in ((".", {{"timeout": 1e-6}}), ("no/such", {{}})):
    try:
        SkillLoader.execute_isolated(name, {{}}, **wrong)
    except OSError as error:
        print(type(error).__name__)
with isolate():
    import skillware.core.loader
"""


def test_as_a_folder_that_a_prompt_goes_into(tmp_path: Path) -> None:
    """Prompts and notebooks import from whatever folder they are in: nothing is left to be imported by then."""
    folder, mark = surrounded_skill(tmp_path / "hostile", tmp_path / "mark"), tmp_path / "mark"
    (tmp_path / "clean").mkdir()
    done = run_in(tmp_path / "clean", [sys.executable, "-c", PROMPT.format(folder=str(folder))])
    assert done.stdout.splitlines() == ["{'ran': True} {'ran': True} 1", "TimeoutError", "FileNotFoundError"]
    assert not mark.exists()


def test_what_python_imports_from_the_working_folder_would_have_run(tmp_path: Path) -> None:
    """The twin: it is the missing `-P` that makes it Python's own way to run what lies there."""
    folder = surrounded_skill(tmp_path / "hostile", tmp_path / "mark")
    subprocess.run([sys.executable, "-m", "skillware", "list"], cwd=folder, capture_output=True, timeout=60)
    assert (tmp_path / "mark").exists()


def test_pip_runs_nothing_of_the_working_folder_or_of_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, mark = surrounded_skill(tmp_path / "hostile", tmp_path / "mark"), tmp_path / "mark"
    wheel = hostile_wheel(tmp_path, mark)
    skill = write_skill(
        tmp_path / "asks", "import evilpackage\nreturn evilpackage.VALUE", manifest="requirements: [evilpackage]\n"
    )
    monkeypatch.chdir(folder)
    for name, value in {"PATH": f".:{os.environ['PATH']}", "PYTHONPATH": ".", "PYTHONSTARTUP": "conftest.py"}.items():
        monkeypatch.setenv(name, value)
    made = SkillLoader.load_skill(str(skill), isolation=Isolation(host=Host(from_wheel=wheel)))["class"]()
    assert made.execute({}) == 41 + 1
    assert not mark.exists()
    assert not [name for name in sys.modules if "evil" in name]


def hostile_wheel(folder: Path, mark: Path) -> Path:
    """A wheel that has everything by which one could run code where it is installed."""
    touch = TOUCH.format(mark=str(mark))
    run = f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n"
    name, info = "evilpackage-1.0", "evilpackage-1.0.dist-info"
    files = {
        "evilpackage/__init__.py": touch + "VALUE = 42\n",
        "evil.pth": run,
        "sitecustomize.py": touch,
        "usercustomize.py": touch,
        "pip/__init__.py": touch,
        "skillware_evil/__init__.py": touch,
        f"{name}.data/scripts/skillcell": f"#!python\n{touch}",
        f"{name}.data/purelib/evil2.pth": run,
        f"{name}.data/data/lib/python3.11/site-packages/evil3.pth": run,
        f"{name}.data/platlib/conftest.py": touch,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: evilpackage\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\nskillware = evilpackage:x\n[pytest11]\nevil = evilpackage\n"
        "[skillware.skills]\nevil = evilpackage\n[distutils.commands]\nevil = evilpackage:x\n",
    }
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()},{len(text)}\n"
        for path, text in files.items()
    )
    wheel = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            archive.writestr(path, text)
    return wheel


def test_behind_links(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    folder = hostile_skill(tmp_path / "real", mark)
    (tmp_path / "link").symlink_to(folder)
    assert use_everything(tmp_path / "link")[1] == {"ran": True}
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").write_text("a key")
    for number, (name, target) in enumerate(
        [("data", "../secrets"), ("here", "."), ("up", ".."), ("skill2.py", "/etc/passwd"), ("round", "round")]
    ):
        skill = write_skill(tmp_path / f"with{number}", f"return open(__file__[:-8] + {name!r} + '/key').read()")
        (skill / name).symlink_to(target)
        with pytest.raises((OSError, BadSkill, HostError)):
            print(SkillLoader.load_skill(str(skill))["class"]().execute({}))
    for name in ("skill.py", "manifest.yaml"):
        skill = hostile_skill(tmp_path / f"linked_{name}", mark)
        (tmp_path / "outside").write_text((skill / name).read_text())
        (skill / name).unlink()
        (skill / name).symlink_to(tmp_path / "outside")
        with pytest.raises((OSError, BadSkill)):
            SkillLoader.load_skill(str(skill))
    assert not mark.exists()


@pytest.mark.parametrize(
    "name",
    [
        "-e",
        "--config",
        "",
        "\x00",
        "../hostile/../hostile",
        "file:///etc",
        "hostile.zip",
        "hostile/skill.py",
        "x" * 5000,
        "\udcff",
    ],
)
def test_by_an_odd_name(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = hostile_skill(tmp_path / "hostile", tmp_path / "mark")
    with zipfile.ZipFile(tmp_path / "hostile.zip", "w") as archive:
        archive.write(folder / "skill.py", "skill.py")
        archive.write(folder / "skill.py", "__main__.py")
    monkeypatch.chdir(tmp_path)
    try:
        SkillLoader.load_skill(name)
    except (OSError, ValueError, HostError):
        pass
    assert not (tmp_path / "mark").exists()
