"""What an expression is, as far as the file's constants tell: nothing is evaluated."""

import ast

from skillcell_guest.analysis.scope import EACH

_DEPTH, _MOST_TEXTS, _LONGEST_TEXT = 8, 16, 500
#: Names lead to expressions, which have names: so many are looked at for one question.
_MOST_STEPS = 1500
#: What is known of a text stops here.
UNKNOWN = "\0"
#: Calls that give a path as they got it, and methods that do.
_SAME_PATH = {
    "str", "os.fspath", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.dirname", "os.path.join",
    "os.path.expandvars", "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "shutil.copy", "open",
    "importlib.resources.files", "importlib.resources.path",
}  # fmt: skip
_SAME_METHODS = {
    "resolve", "absolute", "joinpath", "with_suffix", "with_name", "strip", "format", "as_posix", "relative_to", "open",
    "get", "rstrip", "lstrip", "replace", "decode", "encode", "glob", "rglob", "iterdir", "lower", "expanduser",
}  # fmt: skip


class Resolver:
    def __init__(self, scope, scopes=None):
        self._scope, self._scopes, self._steps = scope, scopes or {}, 0

    def dotted(self, node, function, owner, depth=_DEPTH):
        """`subprocess.run`, with aliases and variables followed; a call of a class stands for its instance."""
        parts = []
        while isinstance(node, (ast.Attribute, ast.Call, ast.Await)):
            if isinstance(node, ast.Attribute):
                parts.append(node.attr)
            elif isinstance(node, ast.Call) and (found := _spelled(node)):
                base, name = found
                if base is None:
                    return ".".join([name, *reversed(parts)])
                parts.append(name)
                node = base
                continue
            node = node.func if isinstance(node, ast.Call) else node.value
            if len(parts) > 12:
                return None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            base = self.dotted(node.left, function, owner, depth - 1) if depth else None
            if base and base.startswith("pathlib.Path"):
                return ".".join(["pathlib.Path", *reversed(parts)])
        if not isinstance(node, ast.Name):
            return None
        parts.reverse()
        return self._named(node.id, parts, function, owner, depth)

    def _named(self, name, parts, function, owner, depth):
        if name in ("self", "cls") and parts:
            values = self._scope.attributes.get((owner, parts[0]), ()) if depth else ()
            for value, where, of in values:
                if isinstance(value, ast.AST) and (base := self.dotted(value, where, of, depth - 1)):
                    return ".".join([base, *parts[1:]])
            return ".".join([name, *parts])
        if depth:
            for value, where, of in self._values(name, function):
                if isinstance(value, ast.AST) and not (isinstance(value, ast.Name) and value.id == name):
                    if (base := self.dotted(value, where, of, depth - 1)) and base.partition(".")[0] not in ("self", "cls"):
                        return ".".join([base, *parts])
        alias = self._scope.aliases.get(name)
        return ".".join([alias[0] if alias else name, *parts])

    def _values(self, name, function):
        while function:
            if (function, name) in self._scope.values:
                return self._scope.values[function, name]
            function = function.rpartition(".")[0]
        return self._scope.values.get(("", name), ())

    def values(self, name, function):
        """The expressions that are assigned to a name."""
        return [value for value, _, _ in self._values(name, function) if isinstance(value, ast.AST)]

    def given(self, name, function):
        """The same, or where it is a parameter, what calls in this file pass for it."""
        return self.values(name, function) or [value for value, _, _ in self._arguments(name, function) if isinstance(value, ast.AST)]

    def is_outside(self, name, function):
        """Whether a name is nothing but what an import made of it: no variable and no parameter."""
        return name in self._scope.aliases and not self._values(name, function) and not self._is_parameter(name, function)

    def _is_parameter(self, name, function):
        while function:
            node = self._scope.functions.get(function)
            if node is not None and any(arg.arg == name for arg in ast.walk(node.args) if isinstance(arg, ast.arg)):
                return True
            function = function.rpartition(".")[0]
        return False

    def texts(self, node, function, owner, depth=_DEPTH):
        """The texts that an expression can be; what is not known in one is `UNKNOWN`. Empty if nothing is known."""
        self._steps = _MOST_STEPS
        found = dict.fromkeys(self._texts(node, function, owner, depth)[:_MOST_TEXTS])
        return [text for text in found if text not in ("", UNKNOWN)]

    def _texts(self, node, function, owner, depth):
        here = lambda inner: self._texts(inner, function, owner, depth - 1)  # noqa: E731
        self._steps -= 1
        if depth <= 0 or self._steps < 0:
            return [UNKNOWN]
        if isinstance(node, EACH):
            listed = self._listed(node.iterated, function, owner, depth)
            return [text for item in listed for text in here(item)] or [UNKNOWN]
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bytes):
                return [node.value[:_LONGEST_TEXT].decode("latin-1")]
            return [node.value[:_LONGEST_TEXT]] if isinstance(node.value, str) else [UNKNOWN]
        if isinstance(node, ast.JoinedStr):
            return _joined([here(part.value if isinstance(part, ast.FormattedValue) else part) for part in node.values])
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Add):
                return _joined([here(part) for part in _flat(node)])
            if isinstance(node.op, ast.Mod):
                return [text.partition("%")[0] + UNKNOWN if "%" in text else text for text in here(node.left)]
        if isinstance(node, ast.IfExp):
            return here(node.body) + here(node.orelse)
        if isinstance(node, ast.BoolOp):
            return [text for value in node.values for text in here(value)]
        if isinstance(node, ast.Call):
            return self._called(node, function, owner, here)
        if isinstance(node, ast.Subscript):
            return [text for item in self._items(node.value, node.slice, function, owner) for text in here(item)] or [UNKNOWN]
        if isinstance(node, ast.Name):
            found = [self._texts(value, where, of, depth - 1) for value, where, of in self._values(node.id, function)]
            found += [self._texts(value, where, of, depth - 1) for value, where, of in self._arguments(node.id, function)]
            if not found:
                return self._texts_elsewhere(node.id, None, depth)
            return [text for texts in found for text in texts] or [UNKNOWN]
        if isinstance(node, ast.Attribute):
            base = node.value.id if isinstance(node.value, ast.Name) else ""
            values = self._scope.attributes.get((owner if base in ("self", "cls") else base, node.attr), ())
            known = [text for value, where, of in values for text in self._texts(value, where, of, depth - 1)]
            return [text for text in known if text] or self._texts_elsewhere(base, node.attr, depth)
        return [UNKNOWN]

    def _texts_elsewhere(self, base, attribute, depth):
        """What a constant of another file is: of a module or a class that is imported, or of any object's attribute, which
        counts only if it is an address."""
        dotted, files = self._scope.aliases.get(base, ("", None))
        path = files[-1] if files else None
        name = dotted.rpartition(".")[2]
        found = []
        if path in self._scopes and path != self._scope.path:
            other = self._scopes[path]
            values = other.values.get(("", attribute or name), ()) if attribute is None or name not in other.classes else ()
            values = values or other.attributes.get((name, attribute), ())
            found = self._texts_in(other, values, depth)
        elif attribute is not None:
            for other in self._scopes.values():
                values = [one for (_, key), all in other.attributes.items() if key == attribute for one in all]
                found += [text for text in self._texts_in(other, values, depth) if "://" in text.partition(UNKNOWN)[0]]
        return found or [UNKNOWN]

    def _texts_in(self, other, values, depth):
        resolver = self if other is self._scope else Resolver(other, self._scopes)
        resolver._steps = min(self._steps, _MOST_STEPS)
        return [text for value, where, of in values for text in resolver._texts(value, where, of, depth - 2)]

    def _called(self, node, function, owner, here):
        if isinstance(node.func, ast.Attribute):
            if node.func.attr == "format":
                return [text.partition("{")[0] + UNKNOWN if "{" in text else text for text in here(node.func.value)]
            if node.func.attr in ("rstrip", "strip", "encode", "lower"):
                return here(node.func.value)
            if node.func.attr == "join" and node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
                glue = here(node.func.value)[0]
                parts = [here(item) for item in node.args[0].elts[:20]]
                return _joined([piece for part in parts for piece in ([glue], part)][1:])
            if node.func.attr == "get" and node.args:
                items = self._items(node.func.value, node.args[0], function, owner)
                if items:
                    return [text for item in [*items, *node.args[1:2]] for text in here(item)]
        dotted = self.dotted(node.func, function, owner) or ""
        if dotted in ("os.environ.get", "os.getenv") or dotted.endswith((".credential", ".get")):
            return [UNKNOWN] + (here(node.args[1]) if len(node.args) > 1 else [])
        if dotted in ("urllib.parse.urljoin", "str", "urllib.request.Request", "httpx.URL") and node.args:
            return [text if text.endswith(UNKNOWN) else text + UNKNOWN * (dotted.endswith("urljoin")) for text in here(node.args[0])]
        return [UNKNOWN]

    def _items(self, table, key, function, owner):
        """What a table of constants has for a key, or all of it where the key is not known."""
        if isinstance(table, ast.Name):
            values = self._values(table.id, function)
        elif isinstance(table, ast.Attribute) and isinstance(table.value, ast.Name):
            of = owner if table.value.id in ("self", "cls") else table.value.id
            values = self._scope.attributes.get((of, table.attr), ())
        else:
            values = [(table, function, owner)]
        for value, _, _ in values:
            if isinstance(value, ast.Dict):
                pairs = list(zip(value.keys, value.values))
                exact = [one for name, one in pairs if _constant(name) is not None and _constant(name) == _constant(key)]
                return (exact or [one for _, one in pairs])[:_MOST_TEXTS]
            if isinstance(value, (ast.List, ast.Tuple)):
                return value.elts[:_MOST_TEXTS]
        return []

    def is_choice(self, node, function, depth=3):
        """Whether an expression picks one of several."""
        if isinstance(node, ast.Subscript):
            return not isinstance(node.slice, ast.Constant)
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Attribute) and node.func.attr == "get"
        if isinstance(node, ast.Name) and depth:
            values = [value for value, _, _ in self._values(node.id, function)]
            return len(values) > 1 or any(self.is_choice(value, function, depth - 1) for value in values)
        return isinstance(node, (ast.IfExp, ast.BoolOp))

    def _listed(self, node, function, owner, depth):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return node.elts[:_MOST_TEXTS]
        if isinstance(node, ast.Dict):
            return [key for key in node.keys[:_MOST_TEXTS] if key is not None]
        if isinstance(node, ast.Name) and depth:
            for value, where, of in self._values(node.id, function):
                if isinstance(value, ast.AST):
                    return self._listed(value, where, of, depth - 1)
        return []

    def _arguments(self, name, function):
        """What calls in this file pass for a parameter of this function."""
        node = self._scope.functions.get(function)
        if node is None:
            return
        names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
        keyword_only = [arg.arg for arg in node.args.kwonlyargs]
        if name not in names and name not in keyword_only:
            return
        shift = 1 if names[:1] in (["self"], ["cls"]) else 0
        called = node.name if node.name != "__init__" else (node.owner.rpartition(".")[2] or node.name)
        for site in self._scope.sites.get(called, ())[:6]:
            where = getattr(site, "inside", ("", ""))
            if self._is_of_another(site, node, where):
                continue
            passed = any(isinstance(one, ast.Starred) for one in site.args)
            for keyword in site.keywords:
                passed = passed or keyword.arg in (name, None)
                if keyword.arg == name:
                    yield keyword.value, *where
            if name in names:
                at = names.index(name) - shift
                if 0 <= at < len(site.args) and not isinstance(site.args[at], ast.Starred):
                    passed = True
                    yield site.args[at], *where
            if not passed and (default := _default(node.args, name)) is not None:
                yield default, "", ""

    def _is_of_another(self, site, node, where):
        """`connection.execute(…)` is no call of the skill's `execute`, nor is any method of a library's object."""
        base = site.func.value if isinstance(site.func, ast.Attribute) else None
        if base is None or isinstance(base, ast.Name) and base.id in ("self", "cls"):
            return False
        top = (self.dotted(base, *where, depth=3) or "").partition(".")[0]
        outside = any(dotted.partition(".")[0] == top and not own for dotted, own in self._scope.aliases.values())
        return outside or node.name == "execute"

    def place(self, node, function, owner, depth=_DEPTH):
        """Where a path leads: a set of `own`, `temp`, `home`, `param`, `env`, `memory`, `text:…`; `other` if nothing tells."""
        self._steps = _MOST_STEPS
        found = self._place(node, function, owner, depth) - {"text:"}
        return sorted(found)[:6] if found else ["other"]

    def _place(self, node, function, owner, depth):
        here = lambda inner: self._place(inner, function, owner, depth - 1)  # noqa: E731
        self._steps -= 1
        if depth <= 0 or self._steps < 0 or node is None:
            return set()
        if isinstance(node, ast.Constant):
            return {_text_place(node.value)} if isinstance(node.value, str) else set()
        if isinstance(node, ast.Name):
            if node.id in ("__file__", "__path__", "__spec__"):
                return {"own"}
            found = set()
            for value, where, of in (*self._values(node.id, function), *self._arguments(node.id, function)):
                value = value.iterated if isinstance(value, EACH) else value
                found |= self._one_of(value, where, of, depth)
            return found if found - {"other"} else self._outermost(node.id, function)
        if isinstance(node, ast.Attribute):
            return self._attribute_place(node, function, owner, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Add)):
            first = _flat(node)[0]
            return here(first)
        if isinstance(node, ast.JoinedStr):
            return here(node.values[0].value if isinstance(node.values[0], ast.FormattedValue) else node.values[0]) if node.values else set()
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            parts = node.values if isinstance(node, ast.BoolOp) else (node.body, node.orelse)
            return set().union(*(self._one_of(part, function, owner, depth) for part in parts))
        if isinstance(node, ast.Subscript):
            dotted = self.dotted(node.value, function, owner) or ""
            return {"env"} if dotted == "os.environ" else here(node.value)
        if isinstance(node, ast.Call):
            return self._call_place(node, function, owner, depth, here)
        if isinstance(node, (ast.List, ast.Tuple)):
            return set().union(*(here(item) for item in node.elts[:8]))
        if isinstance(node, (ast.Await, ast.Starred, ast.NamedExpr)):
            return here(node.value)
        return set()

    def _one_of(self, node, function, owner, depth):
        """Where one of several values leads. One that nothing is known of counts: the others are not all there is."""
        if isinstance(node, ast.Constant) and not node.value:
            return set()
        return self._place(node, function, owner, depth - 1) or {"other"}

    def _outermost(self, name, function):
        """A parameter that nothing is known of: what `execute` was given, as far as can be told."""
        while function:
            node = self._scope.functions.get(function)
            arguments = node.args if node is not None else None
            if arguments and any(arg.arg == name for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)):
                return {"param"}
            function = function.rpartition(".")[0]
        alias = self._scope.aliases.get(name)
        return {"own"} if alias and alias[1] else set()

    def _attribute_place(self, node, function, owner, depth):
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            found = set()
            for value, where, of in self._scope.attributes.get((owner, node.attr), ()):
                if isinstance(value, ast.AST):
                    found |= self._place(value, where, of, depth - 1)
            return found or self._returned(f"{owner}.{node.attr}", depth)
        if node.attr in ("parent", "parents", "name", "path", "stem"):
            return self._place(node.value, function, owner, depth - 1)
        dotted = self.dotted(node, function, owner) or ""
        return {"temp"} if dotted.startswith("tempfile.") else self._place(node.value, function, owner, depth - 1)

    def _returned(self, name, depth):
        """What a function gives."""
        node = self._scope.functions.get(name)
        if node is None or depth <= 1:
            return set()
        found = set()
        for inner in ast.walk(node):
            if isinstance(inner, ast.Return) and inner.value is not None:
                found |= self._place(inner.value, name, node.owner, depth - 2)
        return found

    def _call_place(self, node, function, owner, depth, here):
        dotted = self.dotted(node.func, function, owner) or ""
        first = node.args[0] if node.args else None
        if dotted.startswith("tempfile."):
            return {"temp"}
        if dotted in ("io.BytesIO", "io.StringIO"):
            return {"memory"}
        if dotted in ("os.environ.get", "os.getenv"):
            return {"env"} | (here(node.args[1]) if len(node.args) > 1 else set())
        if dotted in ("os.getcwd", "pathlib.Path.cwd"):
            return {"text:."}
        if dotted in ("pathlib.Path.home", "os.path.expanduser") or dotted.endswith(".expanduser"):
            inner = here(first) if first is not None else here(getattr(node.func, "value", None))
            return inner | {"home"} if "param" not in inner else inner
        if dotted in _SAME_PATH:
            return here(first) or ({"text:."} if dotted == "pathlib.Path" and first is None else set())
        if isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_METHODS:
            return here(node.func.value)
        # What a call makes of a word is not known; of a path it is taken to make one in the same place.
        given = {place for arg in node.args[:3] for place in here(arg) if not _is_word(place)}
        if isinstance(node.func, ast.Name):
            return self._returned(node.func.id, depth - 1) or given
        if dotted.startswith("self.") and dotted.count(".") == 1:
            return self._returned(f"{owner}.{dotted[5:]}", depth - 1) or given
        return {place for place in here(first) if not _is_word(place)}


def _default(arguments, name):
    """What a parameter is where a call leaves it out."""
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    pairs = [*zip(reversed(names), reversed(arguments.defaults))]
    pairs += zip((one.arg for one in arguments.kwonlyargs), arguments.kw_defaults)
    return dict(pairs).get(name)


def _constant(node):
    return node.value if isinstance(node, ast.Constant) else None


def _spelled(call):
    """`getattr(base, "name")`, and `__import__("name")` or `import_module("name")`, whose base is None."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    texts = [one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else None for one in call.args]
    if called == "getattr" and len(texts) > 1 and texts[1]:
        return call.args[0], texts[1]
    if called in ("__import__", "import_module") and texts and texts[0]:
        return None, texts[0]
    return None


def _is_word(place):
    return place.startswith("text:") and "/" not in place


def _text_place(text):
    if text.startswith("~"):
        return "home"
    if text == "/tmp" or text.startswith("/tmp/"):
        return "temp"
    return "text:" + text[:200]


def _flat(node):
    """The operands of a chain of the same operation, first to last."""
    parts, operation = [], type(node.op)
    while isinstance(node, ast.BinOp) and type(node.op) is operation:
        parts.append(node.right)
        node = node.left
    parts.append(node)
    return parts[::-1]


def _joined(parts):
    """Texts of which each part is one of several; what follows the first unknown is dropped."""
    whole = [""]
    for part in parts:
        grown = []
        for start in whole:
            if start.endswith(UNKNOWN):
                grown.append(start)
            else:
                grown += [(start + text)[:_LONGEST_TEXT] for text in (part or [UNKNOWN])]
        whole = list(dict.fromkeys(grown))[:_MOST_TEXTS]
    return whole
