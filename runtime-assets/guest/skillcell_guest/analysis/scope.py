"""The names of one file: what is imported under them, which functions and classes there are, what is assigned where."""

import ast

from skillcell_guest.analysis import branches

#: A function, and a class.
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MOST_VALUES = 8


class Scope:
    def __init__(self, files, path, tree):
        self.files, self.path, self.tree = files, path, tree
        #: Alias to (dotted name, files of the skill that it means or None).
        self.aliases = {}
        #: Qualified name to node; for a method, `Class.name`.
        self.functions = {}
        #: Qualified name to the names of its bases.
        self.classes = {}
        #: (function, name) to the expressions that are assigned; the function of a module's own names is "".
        self.values = {}
        #: (class, attribute) to the expressions that are assigned to `self.attribute`, and class attributes.
        self.attributes = {}
        #: Name of a function to the calls of it in this file.
        self.sites = {}
        #: Modules outside of the skill whose names are all imported, and those that are imported by a text.
        self.stars, self.loaded = [], set()
        self._gather(tree.body, "", "")
        self._find_ends()

    def _find_ends(self):
        """Marks the calls of functions that never return: `die("…")`, whose end is `sys.exit(1)`."""
        for _ in range(2):  # one may be the end of another
            for name, function in self.functions.items():
                if "." not in name and branches.only_fails(function):
                    for site in self.sites.get(name, ()):
                        site.ends = isinstance(site.func, ast.Name)

    def _gather(self, body, function, owner):
        pending = list(reversed(body))
        while pending:
            node = pending.pop()
            if isinstance(node, FUNCTIONS):
                self._function(node, function, owner)
            elif isinstance(node, ast.ClassDef):
                name = _join(function or owner, node.name)
                self.classes[name] = [ast.unparse(base)[:100] for base in node.bases[:8]]
                self._expressions([*node.bases, *node.decorator_list], function, owner)
                self._gather(node.body, "", name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
            else:
                self._assigned(node, function, owner)
                fields = ("body", "orelse", "finalbody", "handlers", "cases")
                inner = [child for field in fields for child in getattr(node, field, ()) if isinstance(child, ast.AST)]
                if isinstance(getattr(node, "body", None), list):
                    heads = [child for child in ast.iter_child_nodes(node) if isinstance(child, (ast.expr, ast.withitem))]
                    self._expressions(heads, function, owner)
                else:
                    self._expressions([node], function, owner)
                    inner = []
                pending.extend(reversed(inner))

    def _function(self, node, function, owner):
        name = _join(function or owner, node.name)
        self.functions.setdefault(name, node)
        node.qualified, node.owner = name, owner
        defaults = [*node.args.defaults, *(default for default in node.args.kw_defaults if default)]
        self._expressions([*node.decorator_list, *defaults], function, owner)
        self._gather(node.body, name, owner)

    def _expressions(self, nodes, function, owner):
        for top in nodes:
            for node in ast.walk(top):
                if isinstance(node, ast.Call):
                    called = node.func
                    name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", None)
                    node.inside = (function, owner)
                    if name in ("__import__", "import_module") and node.args:
                        text = getattr(node.args[0], "value", None)
                        self.loaded |= {text.partition(".")[0]} if isinstance(text, str) else set()
                    if name is not None:
                        self.sites.setdefault(name, []).append(node)

    def _import(self, node):
        for alias in node.names:
            if isinstance(node, ast.Import):
                top = alias.name if alias.asname else alias.name.partition(".")[0]
                bound, dotted = alias.asname or top, top
                ran = self.files.module(alias.name, 0, self.path)
            else:
                bound = alias.asname or alias.name
                if bound == "*" and not node.level and node.module:
                    self.stars.append(node.module)
                module = "." * node.level + (node.module or "")
                dotted = f"{module}.{alias.name}" if not module.endswith(".") else module + alias.name
                ran = self.imported_from(node, alias.name)
            self.aliases.setdefault(bound, (dotted, ran))

    def imported_from(self, node, name):
        """`from package import name`: the module `package.name` if there is one, else `package`."""
        inner = f"{node.module}.{name}" if node.module else name
        return self.files.module(inner, node.level, self.path) or self.files.module(
            node.module or "", node.level, self.path
        )

    def _assigned(self, node, function, owner):
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            pairs = [(node.target, _Each(node.iter))]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            pairs = [(item.optional_vars, item.context_expr) for item in node.items if item.optional_vars]
        else:
            return
        for target, value in pairs:
            self._bind(target, value, function, owner)

    def _bind(self, target, value, function, owner):
        if isinstance(target, ast.Name):
            key = (function, target.id) if function or not owner else None
            places = self.attributes.setdefault((owner, target.id), []) if key is None else self.values.setdefault(key, [])
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id in ("self", "cls"):
            places = self.attributes.setdefault((owner, target.attr), [])
        elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            for inner, item in zip(target.elts, value.elts):
                self._bind(inner, item, function, owner)
            return
        else:
            return
        if len(places) < _MOST_VALUES:
            places.append((value, function, owner))


class _Each:
    """One item of what is looped over."""

    def __init__(self, iterated):
        self.iterated = iterated


EACH = _Each


def _join(outer, name):
    return f"{outer}.{name}" if outer else name
