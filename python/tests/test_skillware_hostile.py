"""No line of a hostile skill runs in the host's process: not by its module, its package, its metadata, a pickle or a name."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("skillware")

from skillware.core.loader import SkillLoader as RealLoader

from made_skills import write_skill
from skillcell.skillware import BadSkill, SkillContext, SkillLoader, metadata

#: Leaves a mark where the process that runs it can write. In a cell there is no such folder.
TOUCH = """
try:
    open({mark!r}, "a").write("here")
except OSError:
    pass
"""


def hostile_skill(folder: Path, mark: Path, **more: Any) -> Path:
    """Tries to leave a mark whenever anything of it runs."""
    touch = TOUCH.format(mark=str(mark))
    files = {
        name: touch for name in ("__init__.py", "conftest.py", "sitecustomize.py", "skillware.py", "yaml.py", "json.py")
    }
    body = touch + "return {'ran': True}"
    before = repr(more.pop("docstring", "")) + touch
    return write_skill(folder, body, before=before, files={**files, **more.pop("files", {})}, **more)


def use_everything(folder: Path) -> Any:
    """All that a host does with a skill."""
    bundle = SkillLoader.load_skill(str(folder))
    for adapter in ("to_claude_tool", "to_openai_tool", "to_deepseek_tool", "to_bedrock_tool", "to_ollama_prompt"):
        getattr(SkillLoader, adapter)(bundle)
    skill = bundle["class"]()
    repr((bundle, skill, skill.__doc__, skill.shape, skill.tags, skill.credential("NOBODY")))
    dir(bundle["module"])
    skill.validate_params({})
    return SkillContext(skill=str(folder)).execute(str(folder), {}), skill.execute({})


def test_natively_the_same_skill_leaves_its_mark(tmp_path: Path) -> None:
    folder = hostile_skill(tmp_path / "hostile", tmp_path / "mark")
    RealLoader.load_skill(str(folder))
    assert (tmp_path / "mark").exists()


def test_a_hostile_module_package_and_constructor_run_only_in_cells(tmp_path: Path) -> None:
    folder = hostile_skill(tmp_path / "hostile", tmp_path / "mark")
    assert use_everything(folder) == ({"ran": True}, {"ran": True})
    assert not (tmp_path / "mark").exists()


def test_a_host_runs_compiles_and_imports_nothing_of_a_skill(tmp_path: Path) -> None:
    folder = hostile_skill(tmp_path / "hostile", tmp_path / "mark")
    script = tmp_path / "watch.py"
    # An audit hook sees every import, compilation and execution; it can't be removed, so it has a process of its own.
    script.write_text(
        "import sys\n"
        "seen = []\n"
        "folder = sys.argv[1]\n"
        "def hook(event, args):\n"
        "    if event == 'exec' and folder in args[0].co_filename: seen.append((event, args[0].co_filename))\n"
        "    if event == 'compile' and folder in str(args[1]): seen.append((event, args[1]))\n"
        "    if event == 'import' and folder in str(args[1:3]): seen.append((event, args))\n"
        "    if event in ('pickle.find_class', 'os.system', 'subprocess.Popen', 'ctypes.dlopen'): seen.append((event, args))\n"
        "from test_skillware_hostile import use_everything\n"
        "from pathlib import Path\n"
        "use_everything(Path(folder))\n"
        "sys.addaudithook(hook)\n"
        "use_everything(Path(folder))\n"
        "loaded = [name for name, one in sys.modules.items() if folder in str(getattr(one, '__file__', ''))]\n"
        "print(seen, loaded, [one for one in sys.path if folder in one])\n"
    )
    command = [sys.executable, str(script), str(folder)]
    places = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": places}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[] [] []"
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    "manifest",
    [
        "description: !!python/object/apply:os.system ['touch {mark}']\n",
        "description: !!python/object/new:type {{args: [x, [], {{}}]}}\n",
        "description: &a [*a]\n",
        "? [1, 2]\n: 3\n",
        "- a list\n",
        "\x00",
        "a: " + "[" * 3000,
    ],
    ids=["apply", "new", "recursive", "odd key", "list", "no text", "deep"],
)
def test_a_hostile_manifest_is_an_error_and_nothing_more(tmp_path: Path, manifest: str) -> None:
    text = "name: x\n" + manifest.format(mark=tmp_path / "mark") if "{mark}" in manifest else "name: x\n" + manifest
    folder = hostile_skill(tmp_path / "hostile", tmp_path / "mark", manifest=text)
    with pytest.raises(BadSkill):
        SkillLoader.load_skill(str(folder))
    assert not (tmp_path / "mark").exists()


def test_a_manifest_that_grows_without_end_ends_in_its_own_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "TIMEOUT_SECONDS", 2.0)
    lines = ["name: x", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    folder = hostile_skill(tmp_path / "hostile", tmp_path / "mark", manifest="\n".join(lines))
    with pytest.raises(BadSkill):
        SkillLoader.load_skill(str(folder))
    monkeypatch.undo()
    assert use_everything(hostile_skill(tmp_path / "next", tmp_path / "mark"))[1] == {"ran": True}


def test_a_pattern_that_never_ends_does_not_hold_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "TIMEOUT_SECONDS", 1.0)
    manifest = "parameters:\n  type: object\n  properties:\n    a: {type: string, pattern: '^(a+)+$'}\n"
    folder = hostile_skill(tmp_path / "hostile", tmp_path / "mark", manifest=manifest)
    skill = SkillLoader.load_skill(str(folder))["class"]()
    with pytest.raises(TimeoutError):
        skill.validate_params({"a": "a" * 60 + "!"})
    assert skill.validate_params({"a": "aa"})


def test_a_schema_leads_to_no_address(tmp_path: Path) -> None:
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    manifest = f"parameters:\n  $ref: http://127.0.0.1:{server.server_address[1]}/schema.json\n"
    folder = hostile_skill(tmp_path / "hostile", tmp_path / "mark", manifest=manifest)
    with pytest.raises(Exception, match=r"."):
        SkillLoader.load_skill(str(folder))["class"]().validate_params({})
    server.shutdown()
    server.server_close()
    assert asked == []


def test_a_requirement_is_a_name_and_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "path" / "innocent"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(TOUCH.format(mark=str(tmp_path / "mark")))
    monkeypatch.syspath_prepend(str(tmp_path / "path"))
    folder = write_skill(tmp_path / "asks", "return 1", manifest="requirements: [innocent, innocent.module]\n")
    SkillLoader.load_skill(str(folder))
    assert not (tmp_path / "mark").exists()
    # It would have been found.
    __import__("innocent")
    assert (tmp_path / "mark").exists()


def test_a_pickle_stays_bytes(tmp_path: Path) -> None:
    import base64
    import pickle

    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return open, (str(tmp_path / "mark"), "w")

    text = base64.b64encode(pickle.dumps(Bomb())).decode()
    folder = hostile_skill(tmp_path / "hostile", tmp_path / "mark", files={"card.json": f'{{"__reduce__": "{text}"}}'})
    (folder / "skill.pkl").write_bytes(pickle.dumps(Bomb()))
    bundle = SkillLoader.load_skill(str(folder))
    assert bundle["card"] == {"__reduce__": text}
    use_everything(folder)
    assert not (tmp_path / "mark").exists()
    # Whoever loads it runs it.
    pickle.loads((folder / "skill.pkl").read_bytes()).close()
    assert (tmp_path / "mark").exists()


def test_a_manifests_tag_would_have_run() -> None:
    """The twin of the hostile manifests: with an unsafe loader this one runs."""
    yaml = pytest.importorskip("yaml")
    assert yaml.unsafe_load("!!python/object/apply:os.getpid []") == os.getpid()


def test_docstrings_and_metadata_are_text(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    run = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    text = f">>> {run}\n{{{run}}} %({run})s ${{{run}}} {{{{{run}}}}}"
    manifest = f"name: x\nversion: {json.dumps(text)}\ndescription: {json.dumps(text)}\nauthor: {json.dumps(text)}\n"
    folder = hostile_skill(tmp_path / "hostile", mark, manifest=manifest, docstring=text)
    use_everything(folder)
    assert not mark.exists()
    # It is code, for whoever evaluates it.
    eval(run)
    assert mark.exists()


@pytest.mark.parametrize("name", ["__class__", "__getattr__", "__dict__", "__del__", "__init_subclass__"])
def test_a_name_that_python_gives_a_meaning_has_none_here(tmp_path: Path, name: str) -> None:
    folder = hostile_skill(tmp_path / "hostile", tmp_path / "mark", name=name)
    bundle = SkillLoader.load_skill(str(folder))
    assert bundle["class"].__name__ == "IsolatedSkill"
    assert type(bundle["module"]).__name__ == "IsolatedModule"
    with pytest.raises(AttributeError):
        getattr(bundle["module"], "os")  # noqa: B009


@pytest.mark.parametrize("name", ["$(touch mark)", "a\nb", "..x", "__import__('os')", "%s{0}"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / name
    write_skill(folder, "return 1", manifest="name: plain\n")
    assert SkillLoader.load_skill(str(folder))["class"]().execute({}) == 1
    assert sorted(os.listdir(tmp_path)) == [name]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "private").write_text("a key")
    folder = write_skill(tmp_path / "links", "return 1")
    (folder / "instructions.md").symlink_to(tmp_path / "private")
    with pytest.raises(OSError, match="instructions"):
        SkillLoader.load_skill(str(folder))


def test_a_pipe_in_the_folder_makes_nobody_wait(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "pipe", "return 1")
    os.mkfifo(folder / "instructions.md")
    with pytest.raises(OSError, match="instructions"):
        SkillLoader.load_skill(str(folder))


@pytest.mark.parametrize("card", ["[" * 100_000, "{", "1" * 5_000])
def test_a_hostile_card_is_an_error(tmp_path: Path, card: str) -> None:
    folder = write_skill(tmp_path / "card", "return 1", files={"card.json": card})
    with pytest.raises(BadSkill):
        SkillLoader.load_skill(str(folder))


def test_what_a_skill_raises_is_looked_up_in_a_list_and_never_imported(tmp_path: Path) -> None:
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "evil.py").write_text(TOUCH.format(mark=str(tmp_path / "mark")))
    body = "kind = type('Odd', (Exception,), {'__module__': 'evil'})\nraise kind('\\x1b[2J')"
    skill = SkillLoader.load_skill(str(write_skill(tmp_path / "raises", body)))["class"]()
    sys.path.insert(0, str(tmp_path / "path"))
    try:
        with pytest.raises(Exception, match=r"evil\.Odd") as caught:
            skill.execute({})
    finally:
        sys.path.remove(str(tmp_path / "path"))
    assert "\x1b" not in str(caught.value)
    assert not (tmp_path / "mark").exists()
