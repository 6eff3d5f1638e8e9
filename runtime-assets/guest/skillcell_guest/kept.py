"""What a skill keeps from one call to the next, as marks that can be compared: a name and a number for each global of its
modules and each attribute of its classes and objects, and for what all modules share.

Marks of two interpreters with the same beginning are equal where what is kept is: they follow values, not addresses. What can't be
looked into (a generator, an object of native code) has a mark of its own, which is equal to none, so that it counts as changed.
"""

import array
import builtins
import collections
import decimal
import functools
import itertools
import logging
import operator
import os
import random
import re
import struct
import sys
import types
import typing
import warnings
import weakref

from skillcell_guest import call

#: More than this is not looked at; then nothing is said to be equal.
_MOST_OBJECTS = 400_000
#: How deep attributes have names of their own; what lies deeper counts as part of them.
_DEEPEST_NAME = 4
_PLAIN = frozenset({str, bytes, int, float, bool, complex, type(None), type(Ellipsis), type(NotImplemented), range, slice})
_CODE = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.ClassMethodDescriptorType, types.MethodWrapperType, types.ModuleType, types.CodeType,
    types.GenericAlias, types.UnionType, re.Pattern, struct.Struct, weakref.ref,
    operator.itemgetter, operator.attrgetter, operator.methodcaller,
)  # fmt: skip
#: Their text is their value.
_TOLD = frozenset({"datetime", "decimal", "fractions", "uuid", "pathlib", "zoneinfo", "ipaddress"})
_FROZEN = getattr(builtins, "frozendict", types.MappingProxyType)
#: Kinds of objects that are only themselves.
_SINGLE = frozenset({"sentinel", "Sentinel"})
#: Names in a module that its import machinery and Python itself keep.
_IGNORED = frozenset({"__builtins__", "__cached__", "__loader__", "__spec__", "__file__", "__warningregistry__", "__conditional_annotations__", "__annotations_cache__", "__annotate_func__", "_abc_impl", "__dict__", "__weakref__"})


#: Modules whose own caches never matter to a result, and our own.
_QUIET = frozenset({"skillcell_guest", "_host", "_reactor", "__main__", "re", "linecache", "importlib", "encodings", "typing", "_frozen_importlib", "_frozen_importlib_external"})


class TooMuch(Exception):
    """More is kept than can be compared."""


class Marks:
    """`values` has the marks; `empty` names that hold nothing yet, `simple` those that hold a number, a text or a flag."""

    def __init__(self, folder, package):
        self._folder, self._package = folder + "/", package
        self.values, self.empty, self.simple, self.caches = {}, set(), set(), {}
        self._seen, self._left = {}, _MOST_OBJECTS
        self.modules = {name: module for name, module in list(sys.modules.items()) if self.is_own(name, module)}
        for name, module in self.modules.items():
            self._names(name.removeprefix(package + "."), vars(module), 0)
        self._names("the skill's object", _attributes(call.skill), 1)
        self._shared()
        #: What the names of all other modules lead to.
        self.bound = {
            name: dict(vars(module)) for name, module in list(sys.modules.items())
            if isinstance(module, types.ModuleType) and not self.is_own(name, module) and name.partition(".")[0] not in _QUIET
        }  # fmt: skip

    def is_own(self, name, module):
        file = getattr(module, "__file__", None)
        return isinstance(file, str) and file.startswith(self._folder) or name == self._package

    def _names(self, at, values, depth):
        for name, value in list(values.items()):
            if isinstance(name, str) and name not in _IGNORED:
                self._name(f"{at}.{name}", value, depth)

    def _name(self, at, value, depth):
        kind = type(value)
        if isinstance(value, functools._lru_cache_wrapper):
            self.caches[at] = value
            self.values[at] = ("cache", value.cache_info().currsize)
        elif isinstance(value, types.ModuleType):
            self.values[at] = ("module", value.__name__)
        elif isinstance(value, type):
            self.values[at] = ("class", value.__module__, value.__qualname__)
            if self._is_own_code(value) and id(value) not in self._seen:
                self._seen[id(value)] = value
                self._names(at, type.__getattribute__(value, "__dict__"), depth + 1)
        elif depth < _DEEPEST_NAME and self._has_names(value):
            self.values[at] = ("object", kind.__module__, kind.__qualname__)
            if id(value) not in self._seen:
                self._seen[id(value)] = value
                self._names(at, _attributes(value), depth + 1)
        else:
            self.values[at] = self._mark(value)
            if value is None or kind in (dict, list, set, collections.OrderedDict, collections.defaultdict) and not value:
                self.empty.add(at)
            elif kind in _PLAIN:
                self.simple.add(at)

    def _has_names(self, value):
        """An object of a class in Python, and not of one that has a mark of its own."""
        kind = type(value)
        return _is_made_in_python(kind) and kind.__module__ not in _TOLD and not isinstance(
            value, (dict, list, tuple, set, frozenset, str, bytes, int, float, logging.Logger, random.Random, types.FunctionType)
        )  # fmt: skip

    def _is_own_code(self, value):
        module = sys.modules.get(getattr(value, "__module__", None))
        return module is not None and self.is_own(module.__name__, module)

    def _mark(self, value):
        tokens = []
        try:
            self._walk(value, tokens, {})
        except (TooMuch, RecursionError):
            raise TooMuch from None
        return hash(tuple(tokens))

    def _walk(self, value, tokens, seen):
        kind = type(value)
        if kind in _PLAIN:
            tokens.append((kind.__name__, repr(value) if kind in (float, complex, slice) else value))
            return
        self._left -= 1
        if self._left < 0:
            raise TooMuch
        flat = _flat(value, kind)
        if flat is not None:
            tokens.append(flat)
            return
        if id(value) in seen:
            tokens.append(("again", seen[id(value)]))
            return
        seen[id(value)] = len(seen)
        tokens.append((kind.__module__, kind.__qualname__))
        parts = self._parts(value, kind, tokens)
        for part in parts:
            self._walk(part, tokens, seen)
        tokens.append("end")

    def _parts(self, value, kind, tokens):
        """What is to be looked at of a value; tokens for what is not an object of its own."""
        if issubclass(kind, dict):
            tokens.append(len(value))
            items = [part for item in dict.items(value) for part in item]
            if kind is collections.defaultdict:
                items.append(value.default_factory)
            return items + _own_attributes(value)
        if issubclass(kind, (list, tuple)):
            tokens.append(len(value))
            own = [] if kind in (list, tuple) else _own_attributes(value)
            base = list if issubclass(kind, list) else tuple
            return [*base.__iter__(value), *own]
        if issubclass(kind, (set, frozenset)):
            base = set if issubclass(kind, set) else frozenset
            tokens.append(tuple(sorted(self._mark(item) for item in base.__iter__(value))))
            return _own_attributes(value)
        if issubclass(kind, (str, bytes, int, float)):
            base = next(base for base in (str, bytes, int, float) if issubclass(kind, base))
            tokens.append(base.__hash__(value))
            return _own_attributes(value)
        if kind is types.FunctionType:
            tokens.append(_code_mark(value.__code__, types.CodeType))
            cells = [_cell(cell) for cell in value.__closure__ or ()]
            return [value.__defaults__, value.__kwdefaults__, vars(value), *cells] if self._is_own_code(value) else []
        if isinstance(value, type):
            return list(_attributes_of_class(value)) if self._is_own_code(value) and value not in vars(sys.modules[value.__module__]).values() else []
        if kind in _CODE or kind.__module__ == "typing" or kind.__name__ in _SINGLE:
            tokens.append(_code_mark(value, kind))
            return []
        return self._parts_of_object(value, kind, tokens)

    def _parts_of_object(self, value, kind, tokens):
        if kind is types.MethodType:
            return [value.__func__, value.__self__]
        if kind is types.CellType:
            return [_cell(value)]
        if kind in (property, classmethod, staticmethod):
            return [value.fget, value.fset, value.fdel] if kind is property else [value.__func__]
        if kind in (types.MappingProxyType, _FROZEN):
            return [dict(value)]
        if kind is functools.partial:
            return [value.func, value.args, value.keywords, vars(value)]
        if kind is functools._lru_cache_wrapper:
            tokens.append(value.cache_info().currsize)
            return [value.__wrapped__]
        if kind in (collections.deque, bytearray, array.array):
            tokens.append(repr(kind))
            return [list(value)]
        if kind is itertools.count or kind.__module__ in _TOLD:
            tokens.append(repr(value))
            return []
        if isinstance(value, logging.Logger):
            tokens.append((value.name, value.level, value.disabled, value.propagate, tuple(map(id, value.handlers))))
            return []
        if isinstance(value, random.Random):
            tokens.append(value.getstate())
            return []
        if kind.__name__ in ("lock", "RLock") and kind.__module__ == "_thread":
            tokens.append(repr(value).split(" ")[0])
            return []
        if kind.__module__ == "numpy" and kind.__name__ == "ndarray" and value.dtype.kind != "O":
            tokens.append((value.shape, value.dtype.str, value.tobytes()))
            return []
        if _is_made_in_python(kind):
            return [_attributes(value)]
        # Nobody knows what it holds: equal to none, not even to itself elsewhere.
        tokens.append(("closed", _number()))
        return []

    def mark(self, value):
        """The mark of a value somewhere else."""
        return self._mark(value)

    def _shared(self):
        """What all modules share, and a call can leave changed."""
        context, root = decimal.getcontext(), logging.getLogger()
        shared = {
            "os.environ": sorted(os.environ.items()),
            "the working folder": os.getcwd(),
            "sys.path": list(sys.path),
            "sys.argv": list(sys.argv),
            "sys.meta_path": [id(item) for item in sys.meta_path],
            "the recursion limit": sys.getrecursionlimit(),
            "the standard streams": [id(getattr(sys, name, None)) for name in ("stdin", "stdout", "stderr", "excepthook", "displayhook")],
            "the decimal context": [context.prec, context.rounding, context.Emin, context.Emax, repr(context.traps)],
            "the logging configuration": [root.level, list(map(id, root.handlers)), root.manager.disable],
            "the filters of warnings": [repr(one) for one in warnings.filters],
            "the builtins": {name: id(value) for name, value in vars(sys.modules["builtins"]).items() if name != "_"},
        }  # fmt: skip
        for name, value in shared.items():
            self.values[name] = self._mark(value)


def _flat(value, kind):
    """A whole list or dict of nothing but plain values, which data is mostly made of."""
    values = value if kind in (list, tuple) else value.values() if kind is dict else ()
    if kind not in (list, tuple, dict) or not _PLAIN.issuperset(map(type, values)):
        return None
    keys = tuple(value) if kind is dict else ()
    if not _PLAIN.issuperset(map(type, keys)):
        return None
    return kind.__name__, keys, tuple(map(type, keys)), tuple(values), tuple(map(type, values))


def _code_mark(value, kind):
    """What does not change. It has to be told without an address: it may have been made by the calls."""
    if kind is types.CodeType:
        return value.co_qualname, value.co_filename, value.co_firstlineno, value.co_code
    if kind is re.Pattern:
        return value.pattern, value.flags
    if kind is struct.Struct:
        return value.format
    if kind is types.ModuleType:
        return value.__name__
    if hasattr(value, "__qualname__"):
        return value.__qualname__, getattr(value, "__module__", None), type(getattr(value, "__self__", None)).__qualname__
    return "" if kind is weakref.ref else repr(value)


_numbers = itertools.count()


def _number():
    return next(_numbers)


def _cell(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _attributes(value):
    """Its attributes, without any code of its class."""
    found = {}
    with_dict = object.__getattribute__
    try:
        found.update(with_dict(value, "__dict__"))
    except AttributeError:
        pass
    for base in type(value).__mro__:
        for name, slot in base.__dict__.items():
            if type(slot) is types.MemberDescriptorType and "__slots__" in base.__dict__:
                try:
                    found.setdefault(name, slot.__get__(value))
                except AttributeError:
                    pass
    return found


def _own_attributes(value):
    return [_attributes(value)] if hasattr(type(value), "__dictoffset__") and type(value).__module__ != "builtins" else []


_made_in_python = {}


def _is_made_in_python(kind):
    """Whether all that its objects hold are attributes: no class that it is made of is native code."""
    known = _made_in_python.get(kind)
    if known is None:
        marks = ("__firstlineno__", "__slots__", "__static_attributes__")
        known = all(base in (object, typing.Generic) or any(mark in base.__dict__ for mark in marks) for base in kind.__mro__)
        _made_in_python[kind] = known
    return known


def _attributes_of_class(value):
    for name, item in value.__dict__.items():
        if name not in ("__dict__", "__weakref__", "__doc__"):
            yield name
            yield item
