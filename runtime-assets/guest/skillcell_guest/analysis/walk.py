"""Goes through a file's statements and notes what they do, under which conditions and with which handlers around them.

A note has its line `l`, its function `f` ("" is the module), its conditions `c` and the `try` statements around it `g`,
outermost first. A condition is `["if", id, branch, branches]`, where `branches` is 0 if it may be that none is taken;
`["handler", id, number]`: only if that handler of that `try` runs; `["maybe"]`.
"""

import ast
import builtins

from skillcell_guest.analysis import branches, implied
from skillcell_guest.analysis.resolve import Resolver, UNKNOWN
from skillcell_guest.analysis.scope import FUNCTIONS

_BUILTINS = {"open", "exec", "eval", "compile", "input", "breakpoint"}
#: Modules of which no call matters here.
_PLAIN = {
    "re", "json", "math", "typing", "collections", "itertools", "functools", "datetime", "dataclasses", "enum", "copy",
    "string", "textwrap", "decimal", "fractions", "statistics", "operator", "hashlib", "base64", "uuid", "random", "abc",
    "time", "unicodedata", "difflib", "bisect", "heapq", "calendar", "struct", "zlib", "html", "warnings", "traceback",
    "contextlib", "types", "inspect", "csv", "binascii", "hmac", "secrets", "pprint", "argparse", "skillware", "email",
    "mimetypes", "sys", "logging", "ipaddress", "locale", "gettext", "array", "numbers", "ast", "keyword",
}  # fmt: skip
_LOGS = ("logging.handlers", "logging.FileHandler", "logging.basicConfig")
_PLAIN_BELOW = ("os.path.", "urllib.parse.", "io.Bytes", "io.String", "os.environ.", "importlib.", "logging.get")
#: Methods that nothing but a path has.
_OF_PATHS = {"read_text", "write_text", "read_bytes", "write_bytes", "touch", "iterdir", "rglob"}
#: Functions whose second argument is the file, or how they begin; and the words for a file.
_FILE_SECOND = ("networkx.write_", "joblib.dump", "torch.save", "Bio.SeqIO.write")
_FILE_WORDS = ("file", "path", "filename", "fname", "fp", "path_or_buf", "filepath")
_COMMON = {name for kind in (str, bytes, dict, list, set, int, type(None)) for name in dir(kind)}
_LOADERS = {"importlib.import_module", "__import__", "importlib.__import__", "builtins.__import__"}
_PROBES = {"importlib.util.find_spec", "pkgutil.find_loader", "shutil.which", "importlib.find_loader"}
_FILE_LOADERS = {"importlib.util.spec_from_file_location", "runpy.run_path", "imp.load_source"}
#: Addresses that are told to whoever is asked, and not asked themselves.
_TOLD = {"referer", "http-referer", "origin", "user-agent", "from"}
#: Calls that start what their first argument names.
_STARTS = ("subprocess.", "os.system", "os.popen", "os.exec", "os.spawn", "os.posix_spawn", "asyncio.create_subprocess", "pexpect.spawn")
_MOST_PROGRAMS = 6
_MOST_LITERAL_CODE = 20_000
_MOST_REFERENCES = 300


class Walk:
    def __init__(self, scope, scopes):
        self._scope, self._scopes, self._resolver = scope, scopes, Resolver(scope, scopes)
        self._notes = {"imports": [], "edges": [], "calls": [], "checks": [], "urls": [], "env": [], "refs": [], "insists": []}
        self._tries, self._ids, self._docs = {}, 0, set()
        self._imported = {alias[0].partition(".")[0] for alias in scope.aliases.values() if not alias[1]}
        self._imported |= scope.loaded | {name.partition(".")[0] for name in scope.stars}
        self._checked, self._uses, self._probed, self._loops = set(), [], {}, []
        self._lambdas, self._referred = {}, set()
        #: Functions that give nothing where what they try fails, with the number of that `try`.
        self._empty = {}

    def facts(self):
        self._block(self._scope.tree.body, _Context())
        helped = list(self._helped())
        tracked = {name for one in self._tries.values() for name in one["binds"] + one["flags"]}
        tracked |= {one["n"] for one in helped}
        return {
            **self._notes,
            "tries": self._tries,
            "checked": sorted(self._checked & tracked),
            "uses": [use for use in self._uses if use["n"] in tracked][:500],
            "probed": {name: sorted(where) for name, where in self._probed.items()},
            "helped": helped[:60],
            "loops": self._loops[:20],
            "functions": {
                name: [node.lineno, node.name in branches.properties(node), branches.is_handed_on(node)]
                for name, node in self._scope.functions.items()
            }
            | self._lambdas,
            "classes": {name: [self._base(base) for base in bases] for name, bases in self._scope.classes.items()},
        }

    def _base(self, base):
        """A base as it is called where it comes from, not in this file."""
        top, _, rest = base.partition(".")
        alias = self._scope.aliases.get(top)
        return ".".join(part for part in (alias[0], rest) if part) if alias else base

    def _helped(self):
        """Names that hold what such a function gave, with the module that it was asked for."""
        for (function, name), values in self._scope.values.items():
            for value, _, owner in values:
                called = value.func if isinstance(value, ast.Call) else None
                target = called.id if isinstance(called, ast.Name) else ""
                if isinstance(called, ast.Attribute) and getattr(called.value, "id", "") in ("self", "cls"):
                    target = f"{owner}.{called.attr}"
                if target in self._empty:
                    asked = [one.value for one in value.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                    yield {"n": name, "f": function, "t": self._empty[target], "m": (asked or [""])[0][:200]}

    # -- statements

    def _block(self, body, context):
        for number, node in enumerate(body):
            if number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # a docstring
            context = self._statement(node, context, body[number + 1 :]) or context
            if isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
                break

    def _statement(self, node, context, after=()):
        if isinstance(node, FUNCTIONS):
            self._function(node, context)
        elif isinstance(node, ast.ClassDef):
            self._expressions([*node.bases, *node.keywords, *node.decorator_list], context)
            owner = f"{context.function or context.owner}.{node.name}" if context.function or context.owner else node.name
            self._block(node.body, context.within(owner=owner))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node, context)
        elif isinstance(node, ast.If):
            return self._if(node, context, after)
        elif isinstance(node, (ast.Try, ast.TryStar)):
            self._try(node, context)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            self._loop(node, context)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self._with(node, context)
        elif isinstance(node, ast.Match):
            self._match(node, context)
        else:
            if isinstance(node, ast.Assert):
                self._test(node.test, [ast.Raise()], context, negative=False)
            self._expressions([node], context)

    def _function(self, node, context):
        arguments = node.args
        annotations = [arg.annotation for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        skip = {id(one) for one in (*annotations, node.returns) if one is not None}
        heads = [*node.decorator_list, *arguments.defaults, *(one for one in arguments.kw_defaults if one)]
        self._expressions([one for one in heads if id(one) not in skip], context)
        self._decorated(node, context)
        inner = _Context(function=node.qualified, owner=node.owner, dead=context.dead)
        self._block(node.body, inner)

    def _decorated(self, node, context):
        """A function of the skill as a decorator: it runs now, and what is in it when the decorated one is called."""
        for decorator in node.decorator_list:
            name = decorator.func if isinstance(decorator, ast.Call) else decorator
            if not isinstance(name, ast.Name):
                continue
            alias = self._scope.aliases.get(name.id)
            path, function = (alias[1][-1], alias[0].rpartition(".")[2]) if alias and alias[1] else (self._scope.path, name.id)
            if path != self._scope.path or function in self._scope.functions:
                self._edge(decorator, path, function, context)
                called = _Context(function=node.qualified, owner=node.owner, dead=context.dead)
                self._note("edges", decorator, called, to=path, fn=function, s=True, w=True)

    def _if(self, node, context, following):
        """A chain of `elif` is one statement here, however long. Gives the context of what follows, if that changes."""
        chain, otherwise = [(node.test, node.body)], node.orelse
        while len(otherwise) == 1 and isinstance(otherwise[0], ast.If):
            chain.append((otherwise[0].test, otherwise[0].body))
            otherwise = otherwise[0].orelse
        number = self._next()
        decided = [branches.known(test, self._resolver, context) for test, _ in chain]
        if len(chain) == 1 and decided[0] is None:
            decided = [branches.at_first(node.test, node.body)]
        leaving = any(branches.returns(body) for _, body in chain)
        self._elsewhere(chain, decided, otherwise or (following if leaving else ()), context)
        live = [value is not False for value in decided]
        # A branch that gives up is no way to a result, so it does not count among the ways there are.
        ways = sum(value and branches.ending(body) == "goes on" for value, (_, body) in zip(live, chain))
        leaves = any(value and branches.returns(body) for value, (_, body) in zip(live, chain))
        last = not branches.gives_up(otherwise or following)
        total = ways + last if otherwise or leaves else 0
        for branch, (test, body) in enumerate(chain):
            self._expressions([test], context)
            self._test(test, body, context)
            self._insist(test, body, (otherwise or following) if len(chain) == 1 else (), context)
            if decided[branch] is False:
                if branches.is_for_types(test):
                    self._block(body, context.within(dead="types"))
            elif decided[branch] and not any(value is None for value in decided[:branch]):
                self._block(body, context)
                return None
            else:
                counts = branches.ending(body) == "goes on"
                self._block(body, context.under(["if", number, branch, total] if counts else ["maybe"]))
        after = context.under(["if", number, len(chain), total] if last else ["maybe"])
        rest = after if any(live) else context
        if otherwise:
            self._block(otherwise, rest)
            return context.under(["maybe"]) if leaves else None
        return rest if leaves else None

    def _match(self, node, context):
        number = self._next()
        self._expressions([node.subject], context)
        last = node.cases[-1]
        whole = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
        for branch, case in enumerate(node.cases):
            self._block(case.body, context.under(["if", number, branch, len(node.cases) if whole else 0]))

    def _try(self, node, context):
        number = self._next()
        self._tries[number] = branches.described(node)
        if context.function and branches.gives_nothing(node, self._scope.functions.get(context.function)):
            self._empty.setdefault(context.function, number)
        self._block(node.body, context.guarded(number))
        self._block(node.orelse, context)
        for at, handler in enumerate(node.handlers):
            self._block(handler.body, context.under(["handler", number, at]))
        self._block(node.finalbody, context)

    def _with(self, node, context):
        self._expressions([item.context_expr for item in node.items], context)
        for item in node.items:
            call = item.context_expr
            self._entered(call, context)
            if isinstance(call, ast.Call) and self._dotted(call.func, context) == "contextlib.suppress":
                number = self._next()
                self._tries[number] = branches.suppressing(call, node.body)
                context = context.guarded(number)
        self._block(node.body, context)

    def _entered(self, call, context):
        """`with Model(…)`: what entering an object of one of the skill's classes runs."""
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        alias = self._scope.aliases.get(name)
        path, owner = (alias[1][-1], alias[0].rpartition(".")[2]) if alias and alias[1] else (self._scope.path, name)
        if path != self._scope.path or owner in self._scope.classes:
            for method in ("__enter__", "__aenter__"):
                self._edge(call, path, f"{owner}.{method}", context)

    def _loop(self, node, context):
        known = branches.known(node.test, self._resolver, context) if isinstance(node, ast.While) else None
        self._expressions([node.test if isinstance(node, ast.While) else node.iter], context)
        if known is False:
            return
        if not context.function and not context.dead:
            self._loops.append(node.lineno)
        over_constants = isinstance(getattr(node, "iter", None), (ast.Tuple, ast.List)) and node.iter.elts
        self._block(node.body, context if known or over_constants else context.under(["maybe"]))
        self._block(node.orelse, context)

    # -- what is noted

    def _note(self, kind, node, context, **more):
        if not context.dead:
            self._notes[kind].append({**_place(node, context), **more})

    def _import(self, node, context):
        dead = context.dead
        if dead:
            context = context.within(dead=None)
        how = "types" if dead else "static"
        if isinstance(node, ast.Import):
            for alias in node.names:
                ran = self._scope.files.module(alias.name, 0, self._scope.path)
                self._note("imports", node, context, m=alias.name, n=[], k=how, to=ran)
            return
        module = "." * node.level + (node.module or "")
        names = [alias.name for alias in node.names]
        base = self._scope.files.module(node.module or "", node.level, self._scope.path)
        ran = list(base or ())
        for name in names:
            ran += [path for path in (self._scope.imported_from(node, name) or ()) if path not in ran]
        if node.level and not ran:
            ran = None
        self._note("imports", node, context, m=module, n=names[:30], k=how, to=ran or None)

    def _expressions(self, nodes, context):
        pending = [(node, context) for node in reversed(nodes)]
        while pending:
            node, here = pending.pop()
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                continue
            if isinstance(node, ast.Call):
                self._call(node, here)
            elif isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp)):
                self._url(node, here)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._name(node, here)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                self._attribute(node, here)
            elif isinstance(node, ast.Subscript) and self._dotted(node.value, here) == "os.environ":
                self._env(node, node.slice, "environ", here)
            elif isinstance(node, ast.Compare) and self._dotted(node.comparators[0], here) == "os.environ":
                self._env(node, node.left, "environ", here)
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
                self._checked |= {inner.id for inner in (node.left, *node.comparators) if isinstance(inner, ast.Name)}
            maybe = here.under(["maybe"])
            if isinstance(node, ast.IfExp):
                self._test(node.test, [], here)
                decided = branches.known(node.test, self._resolver, here)
                parts = [(node.body, maybe)] if decided is not False else []
                parts += [(node.orelse, maybe)] if decided is not True else []
                children = [(node.test, here), *(parts if len(parts) > 1 else [(part, here) for part, _ in parts])]
            elif isinstance(node, ast.BoolOp):
                children = [(node.values[0], here), *((value, maybe) for value in self._evaluated(node, here)[1:])]
            elif isinstance(node, ast.Lambda):
                children = [(node.body, maybe if here.function else self._lambda(node, here))]
            elif isinstance(node, ast.JoinedStr):
                children = [(part.value, here) for part in node.values if isinstance(part, ast.FormattedValue)]
            elif isinstance(node, ast.AnnAssign):
                children = [(node.value, here)] if node.value is not None else []
            elif isinstance(node, ast.Dict):
                told = lambda key: isinstance(key, ast.Constant) and str(key.value).lower() in _TOLD  # noqa: E731
                pairs = [pair for pair in zip(node.keys, node.values) if not told(pair[0])]
                children = [(part, here) for pair in pairs for part in pair if part is not None]
            else:
                children = [(child, here) for child in ast.iter_child_nodes(node)]
            pending.extend(reversed(children))

    def _evaluated(self, node, context):
        """The operands of `and` or `or` up to one that is known to end it."""
        for at, value in enumerate(node.values):
            if branches.known(value, self._resolver, context) is isinstance(node.op, ast.Or):
                return node.values[: at + 1]
        return node.values

    def _lambda(self, node, context):
        """One that is made at import runs later, if at all: it is a function without a name."""
        name = f"<lambda:{node.lineno}:{node.col_offset}>"
        self._lambdas[name] = [node.lineno, False, False]
        self._note("edges", node, context, to=self._scope.path, fn=name, s=False)
        return _Context(function=name, owner=context.owner, dead=context.dead)

    def _call(self, node, context):
        dotted = self._inherited(self._dotted(node.func, context), context)
        if dotted in _LOADERS:
            self._loaded(node, context)
        elif dotted in _FILE_LOADERS:
            self._loaded_file(node, dotted, context)
        elif dotted in ("os.getenv", "os.environ.get", "os.environ.pop", "os.environ.setdefault") and node.args:
            self._env(node, node.args[0], "environ", context)
        elif dotted and dotted.endswith(".credential") and node.args:
            self._env(node, node.args[0], "credential", context)
        elif dotted in _PROBES and node.args:
            for text in self._texts(node.args[0], context):
                self._probed.setdefault(text, set()).add(context.function)
        self._edge_of(node, dotted, context)
        self._chosen(node, context)
        if dotted and self._is_noted(dotted):
            self._noted_call(node, dotted, context)
        elif isinstance(node.func, ast.Name) and node.func.id == dotted and not hasattr(builtins, dotted):
            for module in self._scope.stars[:4]:
                self._noted_call(node, f"{module}.{dotted}", context)
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _OF_PATHS:
            self._noted_call(node, f"pathlib.Path.{node.func.attr}", context)
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "savefig":  # nothing but a figure has it
            self._noted_call(node, "matplotlib.figure.Figure.savefig", context)
        self._implied(node, dotted, context)

    def _implied(self, node, dotted, context):
        """What the library that is called imports when it is."""
        leaf = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        library = implied.METHODS.get(leaf, ("",))[0]
        if library and not (dotted or "").startswith(library + "."):
            dotted = f"{library}.{leaf}" if library in self._imported else None
        arguments = [*node.args[:3], *(word.value for word in node.keywords[:8])]
        texts = lambda: [text for one in arguments for text in self._texts(one, context)]  # noqa: E731
        for module in dict.fromkeys(implied.modules(dotted, texts) if dotted else ()):
            self._note("imports", node, context, m=module, n=[], k="implied", to=None, by=dotted)

    def _inherited(self, dotted, context):
        """A method that a class of the skill does not have itself is that of the library's class that it derives from."""
        top, _, method = (dotted or "").partition(".")
        owner = context.owner if top in ("self", "cls") else top
        for _ in range(4):
            bases = self._scope.classes.get(owner, ())
            if not method or not bases or f"{owner}.{method.partition('.')[0]}" in self._scope.functions:
                return dotted
            base, _, rest = bases[0].partition(".")
            if base in self._scope.aliases:
                outside, own = self._scope.aliases[base]
                return dotted if own else ".".join(part for part in (outside, rest, method) if part)
            owner = bases[0]
        return dotted

    def _is_noted(self, dotted):
        if dotted in _BUILTINS:
            return True
        top = dotted.partition(".")[0]
        if top in _PLAIN and not dotted.startswith(_LOGS) or top in ("self", "cls"):
            return False
        plain = dotted.startswith(_PLAIN_BELOW) and not dotted.startswith("importlib.machinery.")
        return top in self._imported and not plain

    def _noted_call(self, node, dotted, context):
        more = {"d": dotted}
        arguments = [*node.args[:3], *(word.value for word in node.keywords[:8] if word.arg)]
        words = {word.arg: word.value for word in node.keywords if word.arg}
        url = words.get("url", words.get("base_url"))
        heads = [one.elts[0] if isinstance(one, ast.Tuple) and one.elts else one for one in node.args[:3]]
        texts = [self._texts(one, context) for one in ([url] if url is not None else []) + heads]
        more["t"] = [found[:8] for found in texts][:4]
        before = 1 if dotted.startswith(_FILE_SECOND) else 0
        if isinstance(node.func, ast.Attribute) and dotted.startswith("pathlib.Path."):
            more["p"] = self._resolver.place(node.func.value, context.function, context.owner)
        elif len(node.args) > before:
            more["p"] = self._resolver.place(node.args[before], context.function, context.owner)
            if len(node.args) > 1 and dotted.startswith(("shutil.", "os.re")):
                more["p2"] = self._resolver.place(node.args[1], context.function, context.owner)
        elif path := next((words[word] for word in _FILE_WORDS if word in words), None):
            more["p"] = self._resolver.place(path, context.function, context.owner)
        if mode := words.get("mode", words.get("method")):
            more["w"] = (self._texts(mode, context) or [""])[0][:20]
        if "data" in words or "json" in words or dotted.startswith("urllib.request.") and len(node.args) > 1:
            more["b"] = True
        if dotted == "exec" or dotted == "eval":
            self._literal_code(arguments, context)
        if dotted.startswith(_STARTS) and arguments:
            at = 1 if dotted.startswith("os.spawn") else 0
            more["x"] = self._programs(words.get("args", (node.args or arguments)[at : at + 1]), context)
        self._note("calls", node, context, **more)

    def _programs(self, given, context):
        """What a program is started as: the first of a list, or a whole command line."""
        nodes, found = given if isinstance(given, list) else [given], []
        for _ in range(_MOST_PROGRAMS * 4):
            if not nodes or len(found) >= _MOST_PROGRAMS:
                break
            node = nodes.pop(0)
            if isinstance(node, (ast.List, ast.Tuple)):
                nodes += node.elts[:1]
            elif isinstance(node, ast.Starred):
                nodes.append(node.value)
            elif isinstance(node, ast.BinOp) and not isinstance(node.left, (ast.Constant, ast.JoinedStr)):
                nodes.append(node.left)
            elif isinstance(node, ast.IfExp):
                nodes += [node.body, node.orelse]
            elif isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.executable":
                found.append("python3")
            elif isinstance(node, ast.Name) and (values := self._resolver.given(node.id, context.function)):
                nodes += values[:_MOST_PROGRAMS]
            elif isinstance(node, ast.expr):
                found += self._texts(node, context)[:_MOST_PROGRAMS]
        return [text.partition(UNKNOWN)[0][:200] for text in dict.fromkeys(found)][:_MOST_PROGRAMS]

    def _literal_code(self, arguments, context):
        """Code that stands in the file as a text is read as well."""
        for text in self._texts(arguments[0], context) if arguments else ():
            if UNKNOWN not in text and len(text) < _MOST_LITERAL_CODE:
                try:
                    tree = ast.parse(text)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    continue
                for inner in ast.walk(tree):
                    if hasattr(inner, "lineno"):
                        inner.lineno = arguments[0].lineno
                    if isinstance(inner, (ast.Import, ast.ImportFrom)):
                        self._import(inner, context)

    def _loaded(self, node, context):
        texts = self._texts(node.args[0], context) if node.args else []
        if not texts or any(UNKNOWN in text for text in texts):
            self._note("imports", node, context, m=(texts[0].rstrip(UNKNOWN) if texts else ""), n=[], k="unknown", to=None)
        if node.args and self._resolver.is_choice(node.args[0], context.function):
            context = context.under(["maybe"])
        for text in texts:
            if text and UNKNOWN not in text:
                level = len(text) - len(text.lstrip("."))
                ran = self._scope.files.module(text.lstrip("."), level, self._scope.path)
                self._note("imports", node, context, m=text, n=[], k="dynamic", to=ran)

    def _loaded_file(self, node, dotted, context):
        """A file that is run by its path: the last part of the path, if it is a constant."""
        argument = node.args[-1 if dotted.startswith("importlib") else 0] if node.args else None
        names = [text for inner in _resolved(argument, self._scope, context) for text in _constants(inner)]
        files = [path for path in self._scope.files.named(names) if path != self._scope.path]
        kind = "dynamic" if files else "unknown"
        self._note("imports", node, context, m=files[0] if files else "", n=[], k=kind, to=files or None)

    def _env(self, node, name, how, context):
        for text in self._texts(name, context) or [UNKNOWN]:
            self._note("env", node, context, n=text.partition(UNKNOWN)[0], h=how)

    def _url(self, node, context):
        if isinstance(node, ast.BinOp) and not isinstance(node.op, (ast.Add, ast.Mod)):
            return
        for text in self._texts(node, context):
            if text.lower().startswith(("http://", "https://", "ws://", "wss://")) and len(text.split()) == 1:
                self._note("urls", node, context, u=text)

    # -- functions of the skill that are called, or mentioned

    def _edge_of(self, node, dotted, context):
        called = node.func
        if isinstance(called, ast.Name):
            alias = self._scope.aliases.get(called.id)
            if alias and alias[1]:
                self._edge(node, alias[1][-1], alias[0].rpartition(".")[2], context)
            else:
                self._edge(node, self._scope.path, self._local(called.id, context), context)
        elif isinstance(called, ast.Attribute):
            base = called.value
            if isinstance(base, ast.Name) and base.id in ("self", "cls") and context.owner:
                self._edge(node, self._scope.path, f"{context.owner}.{called.attr}", context)
            elif isinstance(base, ast.Name) and (self._scope.aliases.get(base.id) or (None, None))[1]:
                self._edge(node, self._scope.aliases[base.id][1][-1], called.attr, context)
            elif method := self._method_of_own(dotted or ""):
                self._edge(node, *method, context)
            elif called.attr not in _COMMON and not (dotted and self._is_noted(dotted)):
                self._edge(node, None, called.attr, context)

    def _method_of_own(self, dotted):
        """The file and the name of a method that one of the skill's own classes has: `library.clear()`."""
        classes = [("", self._scope.path), *((name, files[-1]) for name, files in self._scope.aliases.values() if files)]
        for name, path in classes:
            method = name.rpartition(".")[2] + dotted[len(name) :] if dotted.startswith(name) else ""
            if "." in method and path in self._scopes and method in self._scopes[path].functions:
                return path, method
        return None

    def _chosen(self, node, context):
        """A function that is chosen by its name while the skill runs: any that it could be."""
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called == "getattr" and len(node.args) > 1 and not isinstance(node.args[1], ast.Constant):
            texts = [text.partition(UNKNOWN)[0] for text in self._texts(node.args[1], context)] or [""]
            own = getattr(node.args[0], "id", "") in ("self", "cls")
            below = f"{context.owner}." if own and context.owner else ""
        elif called == "globals":
            texts, below = [""], ""
        else:
            return
        for name in self._scope.functions:
            if name.startswith(tuple(below + text for text in texts)) and not name.endswith("__"):
                self._edge(node, self._scope.path, name, context, sure=False)

    def _local(self, name, context):
        around = context.function
        while around:
            if f"{around}.{name}" in self._scope.functions:
                return f"{around}.{name}"
            around = around.rpartition(".")[0]
        return name

    def _name(self, node, context):
        if not context.dead:
            self._uses.append({**_place(node, context), "n": node.id})
        local = self._local(node.id, context)
        if local in self._scope.functions or node.id in self._scope.classes:
            self._edge(node, self._scope.path, local, context, sure=False)

    def _attribute(self, node, context):
        self._reference(node, context)
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls") and context.owner:
            name = f"{context.owner}.{node.attr}"
            function = self._scope.functions.get(name)
            if function is not None:
                self._edge(node, self._scope.path, name, context, sure=node.attr in branches.properties(function))

    def _reference(self, node, context):
        """`module.name` of a module that is not the skill's: whether there is such a name, the interpreter knows."""
        base = node.value.id if isinstance(node.value, ast.Name) else ""
        dotted, own = self._scope.aliases.get(base, (None, True))
        key = (dotted, node.attr, context.function)
        if own or key in self._referred or len(self._referred) >= _MOST_REFERENCES:
            return
        if self._resolver.is_outside(base, context.function):
            self._referred.add(key)
            self._note("refs", node, context, m=dotted, n=node.attr)

    def _edge(self, node, to, function, context, sure=True):
        if to == self._scope.path and function not in self._scope.functions and function not in self._scope.classes:
            if "." not in function:
                return
        self._note("edges", node, context, to=to, fn=function, s=sure)

    # -- what is checked before use

    def _test(self, test, body, context, negative=None):
        """A name that is looked at, and a branch that gives up where it is not there."""
        for inner in ast.walk(test):
            if isinstance(inner, ast.Name):
                self._checked.add(inner.id)
            elif isinstance(inner, ast.Attribute):
                self._checked.add(inner.attr)
        ends = branches.ending(body)
        for name in branches.absent_names(test, negative):
            if ends in ("raises", "reports"):
                self._note("checks", test, context, n=name, e=ends)

    def _insist(self, test, body, otherwise, context):
        """What was looked for, where nothing is done without it: `if not which("x"): raise`."""
        ends = branches.gives_up(body)
        for part, absent in branches.parts(test):
            if ends if absent else branches.gives_up(otherwise):
                for kind, text in self._looked_for(part, context):
                    self._note("insists", test, context, n=text, k=kind)

    def _elsewhere(self, chain, decided, otherwise, context):
        """Where a cell's platform decides, and what it leads to gives up: `if sys.platform != "linux": raise`."""
        sure = [at for at, value in enumerate(decided) if value is not False][:1]
        taken = chain[sure[0]][1] if sure and decided[sure[0]] else () if sure else otherwise
        test = chain[sure[0] if sure else 0][0]
        if branches.is_of_platform(test) and branches.gives_up(taken):
            self._note("insists", test, context, n=ast.unparse(test)[:80], k="platform")

    def _looked_for(self, node, context, depth=3):
        """What an expression looks for: `shutil.which("x")`, or a variable that is that."""
        if isinstance(node, ast.NamedExpr):
            node = node.value
        if isinstance(node, ast.Call) and (dotted := self._dotted(node.func, context)) in _PROBES and node.args:
            kind = "program" if dotted == "shutil.which" else "module"
            yield from ((kind, text) for text in self._texts(node.args[0], context) if UNKNOWN not in text)
        elif isinstance(node, ast.Name) and depth:
            for value in self._resolver.values(node.id, context.function):
                value = value.left if isinstance(value, ast.Compare) else value
                yield from self._looked_for(value, context, depth - 1)

    def _next(self):
        self._ids += 1
        return self._ids

    def _dotted(self, node, context):
        return self._resolver.dotted(node, context.function, context.owner)

    def _texts(self, node, context):
        return self._resolver.texts(node, context.function, context.owner)


class _Context:
    """Where a statement stands."""

    def __init__(self, function="", owner="", conditions=(), tries=(), dead=None):
        self.function, self.owner, self.dead = function, owner, dead
        self.conditions, self.tries = list(conditions), list(tries)

    def within(self, **changed):
        return _Context(**{**self.__dict__, **changed})

    def under(self, condition):
        return self.within(conditions=[*self.conditions, condition])

    def guarded(self, number):
        return self.within(tries=[*self.tries, number])


def _place(node, context):
    place = {"l": getattr(node, "lineno", 0), "f": context.function, "c": context.conditions, "g": context.tries}
    return {key: value for key, value in place.items() if value or key == "l"}


def _resolved(node, scope, context):
    if isinstance(node, ast.Name):
        for key in ((context.function, node.id), ("", node.id)):
            for value, _, _ in scope.values.get(key, ()):
                yield value
    elif node is not None:
        yield node


def _constants(node):
    for inner in ast.walk(node) if isinstance(node, ast.AST) else ():
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value
