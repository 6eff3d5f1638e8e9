"""Calls before the image is taken, so that caches are warm in it: modules that are imported late, compiled patterns,
specialised bytecode, data that is read at first use.

The calls are made in two interpreters that begin alike. `OTHER` is made first, and thrown away: it makes the calls in another
order, another number of times, with other params, other random numbers and at another time. The one that becomes the image has to
keep the same as that one, or nothing; then what it keeps depends on none of these. The host compares what calls give.
"""

import contextlib
import dis
import importlib
import inspect
import json
import re
import sys
import time
import types

from skillcell_guest import bake, call, failure, imports, kept, watch

#: CPython specialises a piece of bytecode after it ran a few times.
_TIMES = 12
#: How often each call is made, in the interpreter that becomes the image and in the other.
_EACH, _EACH_OTHER = 3, 2
_MOST_PATTERNS, _LONGEST_PATTERN = 512, 4096
#: How many modules are imported because a function names them, and after how long no other is begun.
_MOST_LATE, _LATE_SECONDS = 64, 3
#: Taken before any skill could put something else in its place.
_loads = json.loads


def way_in_and_out():
    """Rehearses a call's own steps with a skill that does nothing."""
    kept_skill = call.skill
    for _ in range(_TIMES):
        rehearse()
    call.skill = kept_skill


def rehearse():
    """A call without the skill: what every call does."""
    call.skill = _Nothing
    call.enter()


class _Nothing:
    @staticmethod
    def execute(params):
        return {"ok": True, "n": 1, "list": ["a", 1.5, None]}


_now = None


class _Warming:
    def __init__(self, folder, package, is_other):
        self.folder, self.package, self.is_other = folder, package, is_other
        self.modules, self.patterns = set(sys.modules), set(re._cache)
        self.inputs, self.failures = set(), []
        self.choices = _choices(call.manifest)
        self.stack = contextlib.ExitStack()
        self.before = kept.Marks(folder, package)
        self.pristine = {name: cache for name, cache in self.before.caches.items() if sum(cache.cache_info()[:2]) == 0}
        #: Marks of what functions without parameters have cached.
        self.cached = {}
        self.names = self.stack.enter_context(imports.recorded())
        self.read = self.stack.enter_context(watch.environment_reads())


def begin(folder, package, is_other):
    global _now
    _now = _Warming(folder, package, is_other)


def import_late():
    """Imports what the skill's functions import when they are called, as far as it is there. Nothing of which a caller is told where a
    call has it, since every call would have it then."""
    soon = time.monotonic() + _LATE_SECONDS
    told = [name for name in call.watched if name not in sys.modules]
    for name, names in _named_in_functions():
        if time.monotonic() > soon:
            break
        if name.partition(".")[0] not in told:
            with contextlib.suppress(Exception):
                module = importlib.import_module(name)
                for item in names:
                    if not hasattr(module, item):
                        importlib.import_module(f"{name}.{item}")
    call._flush()
    if any(name in sys.modules for name in told):
        raise ImportError("what is imported late brings along what callers are told of")


def _named_in_functions():
    """Modules that are named by `import` and `from` in the bodies of the skill's own functions, with what is taken from them; relative ones are
    its own, and read with it."""
    found = {}
    for name, module in list(sys.modules.items()):
        if _now.before.is_own(name, module):
            with contextlib.suppress(Exception):
                todo = [module.__spec__.loader.get_code(module.__spec__.name)]
                for code in todo:
                    todo += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
                    if code.co_flags & inspect.CO_NEWLOCALS:
                        found.update(dict.fromkeys(_imported_by(code)))
    return list(found)[:_MOST_LATE]


def _imported_by(code):
    """An import is a level, a list of names and the module's name, in this order."""
    before = [None, None]
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME" and before[0] == 0:
            yield step.argval, before[1] or ()
        elif step.opname in ("LOAD_CONST", "LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT"):
            before = [before[1], step.argval]


def make(text):
    """Makes one call, some times, each with an object of its own: the one in the image stays as it was constructed."""
    for _ in range(_EACH_OTHER if _now.is_other else _EACH):
        params = _loads(text)
        if _now.is_other:
            params = _varied(params, _now.choices)
        try:
            call._reseed()
            call.check_json(_new().execute(params))
        except BaseException as error:
            _now.failures.append(f"{failure.type_name(error)}: {failure.message(error)}")
    call._flush()


def _new():
    if not _now.is_other or not call._takes_config():
        return call.skill_class()
    return call.skill_class(config=_Noted(skillcell_practice="practice"))


class _Noted(dict):
    """A config that notices when something of it is looked at. Only its truth and its type go unnoticed."""

    def _note(name):
        plain = getattr(dict, name)

        def noting(self, *words, **more):
            _now.inputs.add("its config")
            return plain(self, *words, **more)

        return noting

    __getitem__, __contains__, __iter__, get, keys = map(_note, ("__getitem__", "__contains__", "__iter__", "get", "keys"))
    items, values, copy, pop, __or__ = map(_note, ("items", "values", "copy", "pop", "__or__"))
    setdefault = _note("setdefault")


def other():
    """Reports what the other interpreter keeps."""
    bake._report(_other)


def _other():
    after = _end()
    rebound = {f"{module}.{name}": mark for module, name, mark, _ in _rebound(after)}
    return {"kept": {"kept": _changes(after), "rebound": rebound, "cached": _now.cached}, "inputs": sorted(_now.inputs)}


def finish(other, inputs):
    """Reports why this interpreter can't become the image, if so. `other` is what the other one keeps, and `inputs` what was
    looked at of what differs from call to call; both are JSON."""
    global _now
    bake._report(lambda: _finish(_loads(other), _loads(inputs)))
    _now = None


def _finish(other, inputs):
    after = _end()
    _complete(_now.names, _now.read)
    inputs = sorted(_now.inputs | set(inputs))
    _put_back(after, other["rebound"], inputs)
    _empty_caches(other["cached"], inputs)
    return {
        "reason": _reason(_changes(after), other["kept"], inputs),
        "modules": _late_modules(after),
        "patterns": _late_patterns(),
        "failures": len(_now.failures),
        "first_failure": _now.failures[0] if _now.failures else None,
    }


def _end():
    if _now is None:
        raise kept.TooMuch("it keeps more than can be compared")
    _now.stack.close()
    _now.inputs.update(f"the environment variable `{name}`" if name != "*" else "the environment" for name in _now.read)
    for module in list(sys.modules.values()):
        # Whoever is warned once would not be warned in a call.
        getattr(module, "__dict__", {}).pop("__warningregistry__", None)
    marks = kept.Marks(_now.folder, _now.package)
    for name, cache in _now.pristine.items():
        if _is_without_parameters(cache) and cache.cache_info().currsize == 1:
            _now.cached[name] = repr(marks.mark(cache()))
        # Emptied or not, it is none of what is compared by its name.
        marks.values[name] = _now.before.values[name]
    return marks


def _is_without_parameters(cache):
    code = getattr(cache.__wrapped__, "__code__", None)
    return code is not None and not code.co_argcount + code.co_kwonlyargcount and not code.co_flags & 0x0C


def _empty_caches(other, inputs):
    """A table that is read once into `functools.cache` stays, by the same rule as one in a global; other caches are emptied."""
    for name, cache in _now.pristine.items():
        if inputs or name not in _now.cached or other.get(name) != _now.cached[name]:
            cache.cache_clear()


def _changes(after):
    """Names, each with its mark as text, and whether it held nothing before and holds more than a number or a text now."""
    before, found = _now.before, {}
    # A module of the skill that was imported late holds numbers and texts, too.
    late = tuple(name.removeprefix(_now.package + ".") + "." for name in after.modules.keys() - before.modules.keys())
    imported = {name for name in after.values if name.startswith(late)}
    for name in before.values.keys() | after.values.keys():
        was, now = before.values.get(name), after.values.get(name)
        if was != now:
            fresh = (name in before.empty or was is None) and name not in after.simple or name in imported
            found[name] = [repr(now), fresh]
    return found


def _rebound(after):
    """Of names in modules that are not the skill's: the module, the name, its mark, and whether it held nothing before. What is only
    code, as of a module that was imported late, is none of it."""
    for module, names in after.bound.items():
        was = _now.before.bound.get(module)
        for name, value in names.items() if was is not None else ():
            old = was.get(name)
            is_code = callable(value) or isinstance(value, type(sys))
            if old is value or name in kept._IGNORED or is_code and (old is None or type(old).__name__ == "lazy_import"):
                continue
            yield module, name, repr(after.mark(value)), not old and type(value) not in kept._PLAIN


def _put_back(after, other, inputs):
    """Other modules keep only what does not depend on a call, and have all else as before."""
    for module, name, mark, fresh in list(_rebound(after)):
        if inputs or not fresh or other.get(f"{module}.{name}") != mark:
            values, was = vars(sys.modules[module]), _now.before.bound[module]
            if name in was:
                values[name] = was[name]
            else:
                values.pop(name, None)


def _reason(changes, other, inputs):
    for name, (mark, fresh) in sorted(changes.items()):
        if not fresh:
            return f"a call leaves `{name}` changed"
        if other.get(name, [None])[0] != mark:
            return f"what a call leaves in `{name}` may depend on the call"
        if inputs:
            return f"a call leaves something in `{name}`, and looks at {inputs[0]}"
    return None


def _late_modules(after):
    late = [name for name in sys.modules if name not in _now.modules]
    return [name for name in late if not after.is_own(name, sys.modules[name]) and name.partition(".")[0] != "skills"][:2000]


def _late_patterns():
    late = [key[1:] for key in re._cache if key not in _now.patterns and isinstance(key[1], str)]
    return [list(key) for key in late if len(key[0]) <= _LONGEST_PATTERN][:_MOST_PATTERNS]


def libraries(text):
    """Where the calls can't be made in the image: what they only imported and compiled, of which nothing is the skill's."""
    learnt = _loads(text)
    with imports.recorded() as names, watch.environment_reads() as read:
        for name in learnt["modules"]:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    for pattern, flags in learnt["patterns"]:
        with contextlib.suppress(Exception):
            re.compile(pattern, flags)
    _complete(names, read)


def _complete(names, read):
    """A call that denies what was imported late, or sets a variable that was looked at meanwhile, imports the skill itself."""
    loaded = bake._loaded
    loaded["import_names"] = sorted({*loaded["import_names"], *names})
    loaded["environment_read"] = sorted({*loaded["environment_read"], *read.importing})


def _choices(manifest):
    """The values that the manifest's schema lets params choose from, each with the next one."""
    found, todo = {}, [manifest]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            choices = item.get("enum")
            if isinstance(choices, list):
                texts = [choice for choice in choices if isinstance(choice, str)]
                found.update(zip(texts, texts[1:] + texts[:1]))
            todo += item.values()
        elif isinstance(item, list):
            todo += item
    return found


def _varied(value, choices, depth=0):
    """Other params: other texts, other numbers, and something more, so that whoever keeps any of it is noticed."""
    if isinstance(value, dict):
        varied = {key: _varied(item, choices, depth + 1) for key, item in value.items()}
        return varied if depth else varied | {"skillcell_practice": True}
    if isinstance(value, list):
        return [_varied(item, choices, depth + 1) for item in value]
    if isinstance(value, str):
        return choices.get(value) or value + " again"
    return value + 1 if isinstance(value, (int, float)) and not isinstance(value, bool) else value
