"""What an agent's steps keep between cells: imports, functions and classes as the lines that made them, all other names as pickles.

Only cells read it. For the host it is a text.
"""

import ast
import base64
import json
import pickle
import sys
import types


def restore(kept):
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    names = vars(main)
    for lines in kept.get("lines", []):
        exec(compile(lines, "<step>", "exec", dont_inherit=True), names)
    for name, text in kept.get("values", {}).items():
        names[name] = pickle.loads(base64.b64decode(text))
    return names


def keep(names, kept, code):
    lines = [*kept.get("lines", []), *definitions(code)]
    values = {}
    for name, value in names.items():
        if name.startswith("__") or isinstance(value, types.ModuleType | types.FunctionType | type):
            continue
        try:
            values[name] = base64.b64encode(pickle.dumps(value)).decode()
        except Exception:
            # An open file, a generator: it is gone in the next step, as a name that does not exist.
            continue
    return {"lines": lines, "values": values}


def definitions(code):
    wanted = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [ast.unparse(one) for one in ast.parse(code).body if isinstance(one, wanted)] if code else []


def as_json(value):
    """The value, or its `repr` if JSON has no such thing."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return repr(value)
