"""Places where numpy's default integer decides a result. It has 32 bits in a cell and 64 elsewhere.

Only what is plain to see: an array made of whole numbers without a `dtype`, a `dtype` or `astype` that says `int`, products.
"""

import ast

_MOST = 40
#: Functions that choose the default integer for whole numbers, unless they are told a `dtype`; and where it is by position.
_MAKERS = {"array": 1, "asarray": 1, "asanyarray": 1, "arange": 3, "full": 2}
#: Functions that use it whatever they are given.
_INTEGERS = {"random.randint", "indices", "bincount", "prod", "cumprod", "int_"}
_DTYPES = {"zeros", "ones", "empty", "full", "array", "asarray", "arange", "zeros_like", "ones_like", "fromiter", "loadtxt", "fromstring"}


def found(scope):
    """Pairs of a line and what is there, in order."""
    names = {name: alias for name, alias in scope.aliases.items() if alias[0].partition(".")[0] in ("numpy", "pandas")}
    if not names and not any(star.partition(".")[0] == "numpy" for star in scope.stars):
        return []
    lines = {}
    for node in ast.walk(scope.tree):
        what = _what(node, names) if isinstance(node, ast.Call) else None
        if what:
            lines.setdefault(node.lineno, what)
    return [[line, what] for line, what in sorted(lines.items())][:_MOST]


def _what(call, names):
    if isinstance(call.func, ast.Attribute) and call.func.attr == "astype" and call.args and _is_int(call.args[0], names):
        return "astype(int)"
    name = _name(call.func, names)
    if name is None:
        return None
    dtype = next((keyword.value for keyword in call.keywords if keyword.arg == "dtype"), None)
    if dtype is not None:
        return f"{name}(dtype=int)" if name in _DTYPES and _is_int(dtype, names) else None
    if name in _INTEGERS:
        return name
    place = _MAKERS.get(name)
    if place is None or not call.args or len(call.args) > place and name != "arange":
        return None
    given = call.args[1:2] if name == "full" else call.args[: 3 if name == "arange" else 1]
    return name if given and _are_whole(given, unknown=name == "arange") else None


def _name(function, names):
    """What a function is called in numpy: `array`, `random.randint`."""
    parts = []
    while isinstance(function, ast.Attribute):
        parts.insert(0, function.attr)
        function = function.value
    alias = names.get(function.id) if isinstance(function, ast.Name) else None
    if alias is None or alias[0].partition(".")[0] != "numpy":
        return None
    return ".".join([*alias[0].split(".")[1:], *parts])


def _is_int(node, names):
    if isinstance(node, ast.Name) and node.id == "int" or isinstance(node, ast.Constant) and node.value in ("int", "i", "l", "int_"):
        return True
    return _name(node, names) in ("int_", "intp", "uint", "uintp")


def _are_whole(nodes, unknown):
    """Whether these are whole numbers as far as they are constants; `unknown` is the answer where none is."""
    seen = unknown
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Constant):
                if type(inner.value) is not int:
                    return False
                seen = True
            elif isinstance(inner, ast.Div):
                return False
            elif isinstance(inner, ast.Call):
                if isinstance(inner.func, ast.Name) and inner.func.id in ("range", "len", "int", "ord", "round"):
                    seen = True
                else:
                    return unknown and seen
            elif isinstance(inner, (ast.Subscript, ast.Attribute)) and not unknown:
                return False
    return seen
