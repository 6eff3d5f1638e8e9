"""What a skill's files say about what it needs, found without running any of them.

`facts` reads every Python file with `ast` and reports what is in them, each with its place; what follows from that is
decided on the host. The modules, in the order in which they are used:

    files     the skill's files: Python, native code by name and by content, which file a module name means
    scope     the names of one file: imports, functions, what is assigned to them
    resolve   what an expression is, as far as constants tell: a dotted name, a text, where a path leads
    walk      goes through the statements: imports, calls, under which conditions and handlers
    integers  where numpy's default integer decides a result
    modules   what the interpreter has of the modules that are imported

and, in a cell of its own that has the skill's packages and not the skill:

    tried     what becomes of importing them

A file is a stranger's text, so everything is bounded, and before a file is parsed its name is printed: should it be
the end of the interpreter, the host knows which one it was and asks again without it.
"""

import ast
import sys
import warnings

from skillcell_guest import failure, load
from skillcell_guest.analysis import files, integers, modules, walk
from skillcell_guest.analysis.scope import Scope

#: More than any skill has; what is beyond is named as not read.
_MOST_FILES, _MOST_BYTES, _MOST_FACTS = 300, 4 << 20, 6000


def facts(folder, package, skipped):
    """`skipped` are files that an earlier attempt did not survive."""
    found = files.Files(folder, package)
    about = {"files": {}, "native": found.native(), "unread": [], "python": list(sys.version_info[:3])}
    try:
        about["manifest"], about["manifest_error"] = load.read_manifest(folder), None
    except Exception as error:
        about["manifest"], about["manifest_error"] = {}, failure.message(error)
    scopes = _scopes(found, skipped, about["unread"])
    room = _MOST_FACTS
    for path, scope in scopes.items():
        if room <= 0:
            about["unread"].append([path, 0, "there is more than is read"])
            continue
        print(path, flush=True)
        read = _guarded(path, about["unread"], lambda scope=scope: walk.Walk(scope, scopes).facts())
        if read is not None:
            room -= _trim(read, room, about["unread"], path)
            read["integers"] = integers.found(scope)
            about["files"][path] = read
    about["modules"] = modules.known(about["files"])
    modules.sort_out(about["files"], about["modules"])
    return about


def _scopes(found, skipped, unread):
    """The names of each file. All of them come before any file is gone through: a constant may be another file's."""
    scopes, most_bytes = {}, _MOST_BYTES
    for number, (path, size) in enumerate(found.python_files()):
        if path in skipped:
            unread.append([path, 0, "the parser did not survive it"])
        elif number >= _MOST_FILES or size > most_bytes:
            unread.append([path, 0, "there is more than is read"])
        else:
            most_bytes -= size
            print(path, flush=True)
            scope = _guarded(path, unread, lambda path=path: Scope(found, path, ast.parse(found.read(path), path)))
            if scope is not None:
                scopes[path] = scope
    return scopes


def _guarded(path, unread, work):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except SyntaxError as error:
        unread.append([path, error.lineno or 0, f"{type(error).__name__}: {error.msg}"])
    except (ValueError, RecursionError, MemoryError, OSError) as error:
        unread.append([path, 0, f"{type(error).__name__}: {error}"])


def _trim(read, room, unread, path):
    """Keeps what there is room for, the imports first."""
    count = 0
    for kind in ("imports", "edges", "calls", "checks", "urls", "env", "refs", "insists"):
        items = read[kind]
        if count + len(items) > room:
            unread.append([path, 0, f"it has more {kind} than are read"])
            del items[max(room - count, 0) :]
        count += len(items)
    return count
