"""`run_python`, and the runners of frameworks that sit on it. A framework that is not installed is skipped, with its name."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skillcell import BadProgram, Exceeded, arun_python, run_python
from skillcell._python import check_path

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples" / "python"
NO_HOST = "sees_the_host"


def test_a_program_has_arguments_input_files_and_an_exit_code() -> None:
    code = (
        "import sys, helper, pathlib\n"
        "print(sys.argv[1:], input(), helper.VALUE, __name__, pathlib.Path(__file__).name)\n"
        "print('to stderr', file=sys.stderr)\n"
        "pathlib.Path('out').mkdir()\n"
        "pathlib.Path('out/é.txt').write_bytes(b'\\x00\\xff')\n"
        "pathlib.Path('in.txt').write_text(open('in.txt').read() + '!')\n"
        "sys.exit(3)\n"
    )
    files: dict[str, bytes | str] = {"helper.py": "VALUE = 5", "in.txt": b"in", "same.txt": "same"}
    ran = run_python(code, files=files, argv=["-v", "ü"], stdin="a line\n", path="tool.py")
    assert ran.exit_code == 3
    assert ran.stdout == "['-v', 'ü'] a line 5 __main__ tool.py\n"
    assert ran.stderr == "to stderr\n"
    assert ran.files == {"out/é.txt": b"\x00\xff", "in.txt": b"in!"}


@pytest.mark.parametrize(
    ("code", "exit_code", "stderr"),
    [
        ("import sys; sys.exit()", 0, ""),
        ("import sys; sys.exit('words')", 1, "words\n"),
        ("import sys; sys.exit(-1)", 255, ""),
        ("1/0", 1, "ZeroDivisionError"),
        ("def broken(:", 1, "SyntaxError"),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
    ],
)
def test_an_end_is_what_a_process_would_have(code: str, exit_code: int, stderr: str) -> None:
    ran = run_python(code)
    assert ran.exit_code == exit_code and stderr in ran.stderr


def test_a_traceback_is_the_programs_own() -> None:
    ran = run_python("def f():\n    return 1 / 0\nf()", path="scripts/x.py")
    assert 'scripts/x.py", line 2, in f' in ran.stderr and "skill.py" not in ran.stderr


def test_a_program_sees_nothing_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "a key")
    code = "import os\nprint(os.path.exists('/etc/passwd'), 'SOME_KEY' in os.environ, os.getcwd())"
    assert run_python(code).stdout == "False False /skills/program\n"


def test_programs_leave_nothing_for_the_next() -> None:
    run_python("open('left.txt', 'w').write('x')\nimport sys\nsys.modules['left'] = sys")
    assert run_python("import os, sys\nprint(os.listdir('.'), 'left' in sys.modules)").stdout == "['main.py'] False\n"


@pytest.mark.parametrize("code", ["while True: pass", "print('x' * (1 << 30))", "x = bytearray(1 << 34)"])
def test_a_limit_ends_a_program_and_the_next_is_unharmed(code: str) -> None:
    try:
        assert run_python(code, timeout=2).exit_code == 1
    except Exceeded as error:
        assert error.report.outcome == "exceeded"
    assert run_python("print(1)").stdout == "1\n"


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "", ".", "a\\b", "a\nb", "a\x00"])
def test_a_path_stays_in_the_folder(name: str) -> None:
    with pytest.raises(BadProgram):
        check_path(name)
    with pytest.raises(BadProgram):
        run_python("pass", files={name: b""})


@pytest.mark.parametrize("files", [{"a": b"1", "./a": b"2"}, {"a": b"", "a/b/c": b""}, {"main.py/x": b""}])
def test_no_file_takes_the_place_of_another(files: dict[str, bytes]) -> None:
    with pytest.raises(BadProgram):
        run_python("pass", files=files)


def test_files_have_bounds() -> None:
    with pytest.raises(BadProgram):
        run_python("pass", files={f"{n}.txt": b"" for n in range(1_001)})
    with pytest.raises(BadProgram):
        run_python("pass", files={"big": bytes(257 << 20)})
    with pytest.raises(Exceeded):
        run_python("for n in range(101): open(f'{n}.txt', 'w').close()", max_scratch_files=100)


def test_a_file_is_given_back_as_it_is_and_a_path_out_of_the_folder_is_none() -> None:
    ran = run_python("import os\nopen('../out.txt', 'w')")
    assert ran.exit_code == 1 and ran.files == {}
    ran = run_python("open('a.bin', 'wb').write(bytes(range(256)) * 4096)")
    assert ran.files == {"a.bin": bytes(range(256)) * 4096}


def test_programs_run_beside_each_other_in_a_loop() -> None:
    async def run() -> list[str]:
        return [one.stdout for one in await asyncio.gather(*(arun_python(f"print({n})") for n in range(8)))]

    assert asyncio.run(run()) == [f"{n}\n" for n in range(8)]


def run_example(name: str) -> str:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "package", "says"),
    [
        ("skillware_claude", "skillware", "Shorter: be so kind as help me."),
        ("agent_framework_skill", "agent_framework", 'The script says {"words": 3, "sees_the_host": false}'),
        ("adk_skill", "google.adk", 'The script says {"words": 3, "sees_the_host": false}'),
        ("smolagents_code", "smolagents", "{'sum': 14, 'sees_the_host': False}"),
        ("litellm_code", "litellm", "42 False"),
    ],
)
def test_an_example_runs_against_the_real_package(name: str, package: str, says: str) -> None:
    try:
        found = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(f"{package} is not installed")
    assert run_example(name) == says


def test_every_example_is_run() -> None:
    listed = {"skillware_claude", "agent_framework_skill", "adk_skill", "smolagents_code", "litellm_code"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == listed
