"""Makes a skill of a script that is none: a folder with the script, the files beside it, and a `skill.py` of ours whose
`execute` does what starting the script would do. The script is parsed here and never run.

    a script with `if __name__ == "__main__":`   that block becomes the function `run_as_main`, and a call of the skill runs it
    any other                                    a call imports it, then calls one of its functions or methods, by `action`
"""

import ast
import hashlib
import json
import re
import sys

_MAIN = re.compile(rb"^if\s+__name__\s*==\s*['\"]__main__['\"]\s*:", re.MULTILINE)
_MOST_ACTIONS, _MOST_BESIDE = 40, 60
#: Distributions whose name is not that of their module.
_DISTRIBUTIONS = {
    "yaml": "PyYAML", "PIL": "Pillow", "bs4": "beautifulsoup4", "cv2": "opencv-python", "sklearn": "scikit-learn",
    "docx": "python-docx", "pptx": "python-pptx", "dotenv": "python-dotenv", "fitz": "PyMuPDF", "Bio": "biopython",
    "dateutil": "python-dateutil", "serial": "pyserial", "git": "GitPython", "jwt": "PyJWT", "magic": "python-magic",
    "Crypto": "pycryptodome", "skimage": "scikit-image", "github": "PyGithub", "googleapiclient": "google-api-python-client",
    "google_auth_oauthlib": "google-auth-oauthlib", "pkg_resources": "setuptools", "telegram": "python-telegram-bot",
    "ruamel": "ruamel.yaml", "mpl_toolkits": "matplotlib", "newspaper": "newspaper4k", "tdc": "PyTDC", "arxiv": "arxiv", "slack_sdk": "slack-sdk", "youtube_transcript_api": "youtube-transcript-api",
    "torch_geometric": "torch-geometric", "pytorch_lightning": "pytorch-lightning", "stable_baselines3": "stable-baselines3",
    "duckduckgo_search": "duckduckgo-search", "pydantic_settings": "pydantic-settings", "faster_whisper": "faster-whisper",
}  # fmt: skip
_GOOGLE = {"genai": "google-genai", "generativeai": "google-generativeai", "oauth2": "google-auth", "auth": "google-auth", "analytics": "google-analytics-data"}

_SKILL = '''"""Written by skills-compat/corpus/wrap.py: starts `{name}` as a command would."""
import os
import sys

from skillware.core.base_skill import BaseSkill

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


class Wrapped(BaseSkill):
    @property
    def manifest(self):
        return {{"name": "wrapped"}}

    def execute(self, params):
        sys.argv = ["{name}", *params.get("argv", ["--help"])]
        try:
            import {module} as script
{body}
        except SystemExit as end:
            return {{"exit": repr(end.code)}}
        return {{"exit": None}}
'''


def wrap(folder, path, content, beside):
    """Writes the skill. `beside` are the files of the same folder and below it, as name to bytes. False if Python can't
    parse the script, so that there is nothing to say of it."""
    name = path.rpartition("/")[2]
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return False
    stem = re.sub(r"\W", "_", name.removesuffix(".py"))
    module = "the_skill" if stem == "skill" else f"_{stem}" if stem[0].isdigit() else stem
    changed, count = _MAIN.subn(b"def run_as_main():", content)
    body = ["script.run_as_main()"] if count else list(_actions(tree))
    folder.mkdir(parents=True, exist_ok=True)
    for other, data in list(beside.items())[:_MOST_BESIDE]:
        if other not in (name, "skill.py", "manifest.yaml") and not other.startswith(("tests/", "test_")):
            target = folder / other
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    (folder / f"{module}.py").write_bytes(changed)
    indented = "\n".join(" " * 12 + line for line in body)
    (folder / "skill.py").write_text(_SKILL.format(name=name, module=module, body=indented))
    tops = {part.removesuffix(".py") for other in beside for part in other.split("/")} | {module, stem}
    manifest = {
        "name": f"corpus/{hashlib.sha256(path.encode()).hexdigest()[:8]}",
        "version": "0.1.0",
        "description": f"the script {name} of a package",
        "requirements": sorted({one for part in _with_siblings(tree, beside) for one in _requirements(part, tops)}),
    }
    (folder / "manifest.yaml").write_text(json.dumps(manifest))
    return True


def _actions(tree):
    """A call of each public function and method, of which `action` chooses one."""
    calls = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            calls[node.name] = f"script.{node.name}(*given)"
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for inner in node.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and not inner.name.startswith("_"):
                    calls[f"{node.name}.{inner.name}"] = f"script.{node.name}().{inner.name}(*given)"
    yield 'action, given = params.get("action"), params.get("given", [])'
    for number, (name, call) in enumerate(list(calls.items())[:_MOST_ACTIONS]):
        yield f'{"el" if number else ""}if action == "{name}":'
        yield f"    {call}"


def _with_siblings(tree, beside):
    """The script, and the files beside it that it imports, and those that these import: all of it is what a skill requires."""
    trees, seen = [tree], set()
    for tree in trees:
        yield tree
        for name in _imported(tree):
            path = name.replace(".", "/")
            for file in {f"{path}.py", f"{path}/__init__.py", f"{path.partition('/')[0]}/__init__.py"} & beside.keys() - seen:
                seen.add(file)
                try:
                    trees.append(ast.parse(beside[file]))
                except (SyntaxError, ValueError):
                    pass


def _imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            yield base
            yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names)


def _requirements(tree, own):
    """The packages that the script imports, as its manifest would list them: not those that it goes on without."""
    guarded = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any("ImportError" in ast.unparse(h.type or ast.Constant("ImportError")) for h in node.handlers):
            if not any(isinstance(inner, ast.Raise) or "exit" in ast.unparse(inner)[:9] for h in node.handlers for inner in h.body):
                guarded |= {id(inner) for one in node.body for inner in ast.walk(one)}
    for node in ast.walk(tree):
        if id(node) in guarded or not isinstance(node, (ast.Import, ast.ImportFrom)) or getattr(node, "level", 0):
            continue
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
        for name in names:
            top, _, rest = name.partition(".")
            if top == "google":
                second = rest.partition(".")[0] or node.names[0].name
                yield _GOOGLE.get(second, f"google-{second}")
            elif top not in sys.stdlib_module_names and top not in own:
                yield _DISTRIBUTIONS.get(top, top.replace("_", "-"))
