"""What a condition is known to be in a cell, and how a branch or a handler ends."""

import ast
import sys

#: Keys and words that say that something went wrong.
_ERROR_KEYS = {"error", "errors", "error_code", "error_message", "err", "exception"}
_STATE_KEYS = {"status", "success", "ok", "state", "result"}
_ERROR_STATES = {"error", "failed", "failure", "fail", "unavailable", "missing_dependency", "not_installed"}


def known(test, resolver, context):
    """True or False if a cell decides it, else None."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = known(test.operand, resolver, context)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        values = [known(value, resolver, context) for value in test.values]
        if isinstance(test.op, ast.And):
            return False if False in values else True if all(values) else None
        return True if True in values else False if values == [False] * len(values) else None
    dotted = resolver.dotted(test, context.function, context.owner) or ""
    if dotted in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
        return False
    if isinstance(test, ast.Call) and dotted == "hasattr" and len(test.args) == 2:
        return _has(test, resolver, context)
    if isinstance(test, ast.Call) and dotted == "sys.platform.startswith" and test.args:
        words = _words(test.args[0])
        return any("wasi".startswith(word) for word in words) if words else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test, resolver, context)
    return None


def _has(test, resolver, context):
    """`hasattr(os, "getuid")`, of a module of the standard library."""
    name = resolver.dotted(test.args[0], context.function, context.owner) or ""
    words = _words(test.args[1])
    if not words or name not in sys.modules or name.partition(".")[0] not in sys.stdlib_module_names:
        return None
    return hasattr(sys.modules[name], words[0])


def at_first(test, body):
    """What a test is in a fresh process if it asks whether something was made before: a cell never made it."""
    names = set(absent_names(test))
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.NotIn):
        names |= set(_plain(test.comparators[0]))
    if names & {name for node in body for name in _assigned(node)}:
        return True
    last = body[-1] if body else None
    if isinstance(last, ast.Return) and len(body) == 1 and last.value is not None:
        kept = test.left if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) else test
        is_kept = isinstance(kept, ast.Attribute) and isinstance(kept.value, ast.Name) and kept.value.id in ("self", "cls")
        if is_kept and ast.unparse(kept) == ast.unparse(last.value):
            return False
    return None


def _assigned(node):
    """Attributes, and names in capitals or with an underscore, that a statement sets: what outlives a function."""
    for inner in ast.walk(node):
        targets = inner.targets if isinstance(inner, ast.Assign) else []
        for target in targets:
            target = target.value if isinstance(target, ast.Subscript) else target
            if isinstance(target, ast.Attribute):
                yield target.attr
            elif isinstance(target, ast.Name) and (target.id.isupper() or target.id.startswith("_")):
                yield target.id


def returns(body):
    """Whether a branch leaves its function with a result."""
    last = body[-1] if body else None
    if isinstance(last, ast.Return):
        return last.value is None or not _is_error(last.value)
    if isinstance(last, ast.With):
        return returns(last.body)
    if isinstance(last, ast.If):
        return returns(last.body) or returns(last.orelse)
    if isinstance(last, ast.Try):
        return returns(last.body)
    return False


def _compared(test, resolver, context):
    left = resolver.dotted(test.left, context.function, context.owner) or ""
    right, operation = test.comparators[0], test.ops[0]
    if left == "__name__" and isinstance(operation, ast.Eq) and _words(right) == ["__main__"]:
        return False
    here = {"sys.platform": "wasi", "os.name": "posix", "platform.system": "WASI"}.get(left)
    if here is not None:
        words = _words(right)
        if not words:
            return None
        is_in = any(word.lower() == here.lower() for word in words)
        if isinstance(operation, (ast.Eq, ast.In)):
            return is_in
        if isinstance(operation, (ast.NotEq, ast.NotIn)):
            return not is_in
    if left in ("sys.version_info", "sys.version_info.major") and isinstance(right, (ast.Tuple, ast.Constant)):
        try:
            wanted = ast.literal_eval(right)
            ours = sys.version_info[0] if left.endswith("major") else tuple(sys.version_info[: len(wanted)])
            decided = {ast.Gt: ours > wanted, ast.GtE: ours >= wanted, ast.Lt: ours < wanted, ast.LtE: ours <= wanted}
            return {**decided, ast.Eq: ours == wanted, ast.NotEq: ours != wanted}.get(type(operation))
        except (ValueError, TypeError):
            return None
    return None


def _words(node):
    items = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    words = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return words if len(words) == len(items) else []


def is_of_platform(test):
    """Whether a test asks for the platform or the version of Python."""
    texts = {ast.unparse(node) for node in ast.walk(test) if isinstance(node, ast.Attribute)}
    return bool(texts & {"sys.platform", "os.name", "platform.system", "sys.version_info"})


def is_for_types(test):
    return any(getattr(node, "id", getattr(node, "attr", "")) == "TYPE_CHECKING" for node in ast.walk(test))


def properties(function):
    """The name of a function, if reading it as an attribute runs it."""
    for decorator in function.decorator_list:
        text = ast.unparse(decorator)[:80]
        if text == "property" or text.endswith("cached_property"):
            return {function.name}
    return set()


def is_handed_on(function):
    """Whether a decorator gets hold of it that may have it called, such as `@register`."""
    plain = {"property", "staticmethod", "classmethod", "abstractmethod", "override", "overload", "contextmanager"}
    for decorator in function.decorator_list:
        text = ast.unparse(decorator)[:80].partition("(")[0]
        last = text.rpartition(".")[2]
        if last not in plain and not text.startswith("functools.") and last not in ("cached_property", "lru_cache", "cache"):
            if last not in ("setter", "wraps", "asynccontextmanager"):
                return True
    return False


def described(node):
    """A `try`: what each handler catches and how it ends, which names the imports in it bind, which a handler sets."""
    handlers = [[_caught(handler.type), ending(handler.body)] for handler in node.handlers]
    binds, flags, mends = _bound(node.body), [], []
    for handler in node.handlers:
        for inner in handler.body:
            if isinstance(inner, (ast.Assign, ast.AnnAssign)):
                targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                names = [getattr(target, "id", getattr(target, "attr", "")) for target in targets]
                empty = isinstance(inner.value, ast.Constant) and not inner.value.value
                (flags if empty else mends).extend(names)
            for one in ast.walk(inner):
                if isinstance(one, (ast.Import, ast.ImportFrom)):
                    mends += _bound([one])
                elif isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    mends.append(one.name)
    return {"handlers": handlers, "binds": binds[:40], "flags": flags[:40], "mends": mends[:40]}


def _bound(body):
    """The names that imports bind."""
    imports = [one for inner in body for one in ast.walk(inner) if isinstance(one, (ast.Import, ast.ImportFrom))]
    return [alias.asname or alias.name.partition(".")[0] for one in imports for alias in one.names]


def gives_nothing(node, function):
    """Whether a function gives nothing where what it tries to import fails: `except ImportError: return None`."""
    for handler in node.handlers:
        if {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"} & set(_caught(handler.type)):
            last = handler.body[-1]
            if isinstance(last, ast.Return):
                return last.value is None or isinstance(last.value, ast.Constant) and not last.value.value
            falls = isinstance(last, (ast.Pass, ast.Expr))
            return falls and function is not None and function.body[-1] is node
    return False


def suppressing(call, body):
    caught = [name for argument in call.args for name in _caught(argument)]
    return {"handlers": [[caught, "goes on"]], "binds": _bound(body)[:40], "flags": [], "mends": []}


def _caught(node):
    if node is None:
        return ["BaseException"]
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    return [ast.unparse(item).rpartition(".")[2][:60] for item in items[:12]]


def ending(body):
    """How a branch ends: it `raises`, it `reports` an error as its result, or it `goes on`."""
    for node in reversed(body):
        if isinstance(node, ast.Raise):
            return "raises"
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = ast.unparse(node.value.func)[:80]
            if name in ("sys.exit", "exit", "quit", "os._exit", "os.abort") or getattr(node.value, "ends", False):
                return "raises"
        if isinstance(node, ast.Return) and node.value is not None and _is_error(node.value):
            return "reports"
        if isinstance(node, ast.If) and node.orelse and ending(node.body) == ending(node.orelse) != "goes on":
            return ending(node.body)
    return "goes on"


def gives_up(body):
    """Whether there is no way through to a result: the end is an error, and nothing on the way returns anything else."""
    last = body[-1] if body else None
    if isinstance(last, ast.Return):
        ends = last.value is not None and _is_error(last.value)
    else:
        ends = isinstance(last, ast.Raise) or ending([last] if last is not None else []) == "raises"
    pending = list(body) if ends else []
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return) and (node.value is None or not _is_error(node.value)):
            return False
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))
    return ends


def only_fails(function):
    """Whether a function is there to end with an error: a few statements, and the last raises or exits with one."""
    last = function.body[-1]
    call = last.exc if isinstance(last, ast.Raise) else getattr(last, "value", None)
    if isinstance(last, ast.Raise) and not ast.unparse(last)[6:].startswith("SystemExit"):
        ends = True
    elif getattr(call, "ends", False):
        ends = True
    else:
        ends = ending([last]) == "raises" and isinstance(call, ast.Call) and _is_error_code(call, function.args)
    leaves = (ast.Return, ast.Yield, ast.YieldFrom)
    return ends and len(function.body) <= 6 and not any(isinstance(node, leaves) for node in ast.walk(function))


def _is_error_code(call, arguments):
    """Whether an exit says that something went wrong: a constant, or a parameter that is one unless it is given."""
    code = call.args[0] if call.args else None
    if isinstance(code, ast.Name):
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        at = names.index(code.id) - len(names) + len(arguments.defaults) if code.id in names else -1
        code = arguments.defaults[at] if at >= 0 else None
    return isinstance(code, ast.Constant) and bool(code.value)


def parts(test):
    """What a test looks at, each with whether the branch is taken where it is not there."""
    for part in test.values if isinstance(test, ast.BoolOp) else [test]:
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            yield part.operand, True
        elif isinstance(part, ast.Compare) and len(part.ops) == 1 and _constant_of(part) in (None, False):
            yield part.left, isinstance(part.ops[0], (ast.Is, ast.Eq))
        else:
            yield part, False


def _constant_of(compared):
    """The constant that something is compared with; if it is none, that is no answer."""
    right = compared.comparators[0]
    return right.value if isinstance(right, ast.Constant) else ...


def _is_error(node):
    if isinstance(node, ast.Tuple):
        return any(_is_error(item) for item in node.elts)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)[:120].rpartition(".")[2].lower()
        if any(word in name for word in ("error", "fail", "unavailable", "missing")):
            return True
        if name == "dict":
            pairs = [(keyword.arg, keyword.value) for keyword in node.keywords]
            return any(_says_error(key, value) for key, value in pairs if key)
        return any(_is_error(argument) for argument in node.args if isinstance(argument, ast.Dict))
    if isinstance(node, ast.Dict):
        pairs = [(getattr(key, "value", None), value) for key, value in zip(node.keys, node.values)]
        return any(_says_error(key, value) for key, value in pairs if isinstance(key, str))
    return False


def _says_error(key, value):
    key = key.lower()
    if key in _ERROR_KEYS:
        return not (isinstance(value, ast.Constant) and not value.value)
    if key in _STATE_KEYS and isinstance(value, ast.Constant):
        return value.value is False or (isinstance(value.value, str) and value.value.lower() in _ERROR_STATES)
    return False


def absent_names(test, negative=None):
    """The names that a test finds missing: `not X`, `X is None`. With `negative` False, those that it asserts."""
    if negative is False:
        return [name for name in _asserted(test)]
    names = []
    for part in test.values if isinstance(test, ast.BoolOp) else [test]:
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            names += _plain(part.operand)
        elif isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], (ast.Is, ast.Eq)):
            if isinstance(part.comparators[0], ast.Constant) and part.comparators[0].value in (None, False):
                names += _plain(part.left)
    return names


def _asserted(test):
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
        return _plain(test.left)
    return _plain(test)


def _plain(node):
    if isinstance(node, ast.Name):
        return [node.id]
    return [node.attr] if isinstance(node, ast.Attribute) else []
