"""Reads what a folder of the Agent Skills format says, where nothing of it runs: `SKILL.md`, what its scripts import, and
which packages they want.

Packages are taken from the first of these that is there: the script's own PEP 723 block, `requirements.txt`,
`pyproject.toml`. Without any, what the script imports and neither Python nor the folder has is a guess, for the host to
name packages for. An author may write a `skillcell.toml` beside `SKILL.md`; what `SKILL.md` itself says about tools is
shown and never trusted.
"""

import ast
import os
import re
import sys

#: Bounds of what is read: of a text, and how many files of the folder are followed.
_LONGEST, _MOST_FILES, _MOST_NAMES = 4 << 20, 256, 512
#: What `skillcell.toml` may say; each means what it means in a Skillware manifest.
_KEYS = ("permissions", "requirements", "execution", "acknowledge", "env_vars", "container")
_BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


def manifest(folder, script):
    """As a Skillware manifest would say it, for one script; for the folder alone if there is none."""
    front = frontmatter(read_text(folder, "SKILL.md") or "")
    said = {"name": _text(front.get("name")), "description": _text(front.get("description")), "frontmatter": front}
    own = read_text(folder, "skillcell.toml")
    if own is not None:
        import tomllib

        said |= {key: value for key, value in tomllib.loads(own).items() if key in _KEYS}
    if "requirements" in said:
        return said | {"requirements_from": "skillcell.toml"}
    found = _requirements(folder, script)
    if found is not None:
        return said | dict(zip(("requirements_from", "requirements"), found))
    if script is None:
        return said
    return said | {"requirements_from": "imports", "wanted_modules": wanted_modules(folder, script)}


def _text(value):
    return None if value is None else value if isinstance(value, str) else str(value)


def read_text(folder, name):
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read(_LONGEST).decode("utf-8-sig", "replace").replace("\r\n", "\n")
    except OSError:
        return None


def frontmatter(text):
    """The keys between the first two `---`. A third of public ones are not quite YAML: then it is `key: value` by line."""
    lines = text.lstrip().split("\n")
    if lines[0].rstrip() != "---":
        return {}
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), len(lines))
    inner = lines[1:end]
    try:
        import yaml

        read = yaml.safe_load("\n".join(inner))
        if isinstance(read, dict):
            return read
    except Exception:  # not YAML to the letter
        pass
    return _by_line(inner)


def _by_line(lines):
    found, key = {}, None
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and re.fullmatch(r"[A-Za-z][\w-]*", name):
            key, found[name] = name, value.strip().strip("\"'")
        elif key is not None and line[:1].isspace():
            found[key] = f"{found[key]} {line.strip()}".strip()
    return found


def _requirements(folder, script):
    """Where the packages are named, and their names; None if nowhere."""
    block = script_block(read_text(folder, script) or "") if script is not None else None
    if block is not None:
        return script, [str(one) for one in block.get("dependencies", [])]
    places = ("", os.path.dirname(script) + "/") if script is not None else ("",)
    for place in dict.fromkeys(part if part != "/" else "" for part in places):
        text = read_text(folder, place + "requirements.txt")
        if text is not None:
            return place + "requirements.txt", list(_lines(text))
        text = read_text(folder, place + "pyproject.toml")
        named = _project(text) if text is not None else None
        if named is not None:
            return place + "pyproject.toml", named
    return None


def script_block(text):
    """The metadata of PEP 723, or None if there is none that can be read."""
    match = _BLOCK.search(text)
    if match is None:
        return None
    import tomllib

    content = "".join(line[2:] if line.startswith("# ") else line[1:] for line in match["content"].splitlines(True))
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError:
        return None


def _lines(text):
    """The requirements of a `requirements.txt`; options of pip are left out, and its files are not followed."""
    for line in text.replace("\\\n", " ").split("\n"):
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        line = re.sub(r"\s--\S+([= ]\S+)?", "", line)
        if line and not line.startswith("-"):
            yield line


def _project(text):
    import tomllib

    try:
        project = tomllib.loads(text).get("project")
    except tomllib.TOMLDecodeError:
        return None
    named = project.get("dependencies") if isinstance(project, dict) else None
    return [str(one) for one in named] if isinstance(named, list) else None


def wanted_modules(folder, script):
    """What the script, or a file of the folder that it imports, imports from elsewhere than Python itself."""
    foreign = scan(folder, script)[1]
    return sorted({name for name, _ in foreign if name.partition(".")[0] not in sys.stdlib_module_names})


def scan(folder, script):
    """The folder's own files that the script may import, itself first, and what else is imported: pairs of a module's dotted
    name and the names that are taken from it. Read from the text alone."""
    own, foreign, seen, ahead = [], {}, set(), [script]
    bases = list(dict.fromkeys((os.path.dirname(script), "")))
    while ahead and len(own) < _MOST_FILES:
        place = ahead.pop(0)
        if place in seen:
            continue
        seen.add(place)
        own.append(place)
        for module, names in _imports(_parsed(folder, place), os.path.dirname(place)):
            files = [file for base in bases for file in _files(folder, base, module, names)]
            ahead += files
            if not files and isinstance(module, str) and len(foreign) < _MOST_NAMES:
                foreign.setdefault(module, set()).update(names)
    return own, [(module, sorted(names)) for module, names in foreign.items()]


def _parsed(folder, place):
    try:
        with open(os.path.join(folder, place), "rb") as file:
            return ast.parse(file.read(_LONGEST), place)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # running it will say so


def _imports(tree, package):
    """Each import, wherever it stands: a dotted name, or for a relative one its path as a tuple; and the names from it."""
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names if alias.name != "*"]
            if not node.level:
                yield node.module, names
                continue
            base = os.path.normpath(os.path.join(package, "../" * (node.level - 1)))
            parts = [part for part in base.split("/") if part not in ("", ".")]
            yield tuple(parts + (node.module.split(".") if node.module else [])), names


def _files(folder, base, module, names):
    """The folder's files that importing this may run: the module, the packages around it, and what holds a name."""
    parts = module.split(".") if isinstance(module, str) else list(module)
    start = base if isinstance(module, str) else ""
    ways = [parts[:end] for end in range(1, len(parts) + 1)] + [[*parts, name] for name in names]
    for way in ways:
        stem = os.path.join(start, *way)
        for file in (stem + ".py", stem + "/__init__.py"):
            if os.path.isfile(os.path.join(folder, file)):
                yield file
