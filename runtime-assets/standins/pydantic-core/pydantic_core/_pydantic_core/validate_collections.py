"""Lists, tuples, sets, dictionaries and their kin."""

import collections
import collections.abc as abc

from .errors import Failure, Line, PydanticOmit, fail
from .state import LAX, STRICT, check_text, kind, named


def _length(schema, what):
    shortest, longest = schema.get("min_length"), schema.get("max_length")

    def check(result, value):
        if shortest is not None and len(result) < shortest:
            raise fail("too_short", value, field_type=what, min_length=shortest, actual_length=len(result))
        if longest is not None and len(result) > longest:
            raise fail("too_long", value, field_type=what, max_length=longest, actual_length=len(result))
        return result

    return check


def _items(values, item, state, fail_fast=False):
    """Every item validated; failures with the item's index, of the first only if that is enough."""
    result, lines = [], []
    for index, value in enumerate(values):
        try:
            result.append(item(value, state) if item else value)
        except PydanticOmit:
            continue
        except Failure as failure:
            lines += failure.within(index).lines
            if fail_fast:
                break
    if lines:
        raise Failure(lines)
    return result


def _is_iterable(value):
    return isinstance(value, abc.Iterable) and not isinstance(value, (str, bytes, bytearray, dict, abc.Mapping))


@kind("list")
def _list(schema, build):
    return _sequence(schema, build, "list", "List", list)


@kind("deque")
def _deque(schema, build):
    return _sequence(schema, build, "deque", "Deque", collections.deque)


def _sequence(schema, build, name, shown, exact):
    strict = build.setting(schema, "strict", default=False)
    item = build.make(schema["items_schema"]) if "items_schema" in schema else None
    check = _length(schema, shown)

    def validate(value, state):
        if type(value) is not exact and not isinstance(value, exact):
            if state.mode != "python":
                if not isinstance(value, list):
                    raise fail(f"{name}_type", value)
            elif state.strictly(strict) or not _is_iterable(value):
                raise fail(f"{name}_type", value)
            state.floor(LAX)
        elif type(value) is not exact:
            state.floor(STRICT)
        found = _items(value, item, state, schema.get("fail_fast"))
        result = found if exact is list else exact(found, getattr(value, "maxlen", None))
        return check(result, value)

    return named(validate, f"{name}[{item.name if item else 'any'}]")


@kind("tuple")
def _tuple(schema, build):
    strict = build.setting(schema, "strict", default=False)
    items = [build.make(item) for item in schema["items_schema"]]
    variadic = schema.get("variadic_item_index")
    check = _length(schema, "Tuple")

    def validate(value, state):
        if not isinstance(value, tuple):
            if state.mode != "python":
                if not isinstance(value, list):
                    raise fail("tuple_type", value)
            elif state.strictly(strict) or not _is_iterable(value):
                raise fail("tuple_type", value)
            if state.mode == "python":
                state.floor(LAX)
        values = list(value)
        if variadic is None:
            wanted = items
            lines = []
            if len(values) > len(items) and not schema.get("fail_fast"):
                raise fail("too_long", value, field_type="Tuple", max_length=len(items), actual_length=len(values))
        else:
            spread = max(0, len(values) - (len(items) - 1))
            wanted = items[:variadic] + [items[variadic]] * spread + items[variadic + 1 :]
            lines = []
        result = []
        for index, item in enumerate(wanted):
            try:
                if index < len(values):
                    result.append(item(values[index], state))
                elif hasattr(item, "default") and (given := item.default(state)) is not None:
                    result.append(given.value)
                else:
                    lines.append(Line("missing", value, loc=(index,)))
            except Failure as failure:
                lines += failure.within(index).lines
            if lines and schema.get("fail_fast"):
                break
        if lines:
            raise Failure(lines)
        if len(values) > len(wanted):
            raise fail("too_long", value, field_type="Tuple", max_length=len(items), actual_length=len(values))
        return tuple(check(result, value))

    inner = ",".join(item.name for item in items)
    return named(validate, f"tuple[{inner}{',...' if variadic is not None else ''}]")


def _set(exact, name, error):
    def maker(schema, build):
        strict = build.setting(schema, "strict", default=False)
        item = build.make(schema["items_schema"]) if "items_schema" in schema else None
        check = _length(schema, "Set" if exact is set else "Frozenset")

        def validate(value, state):
            if not isinstance(value, exact):
                if state.mode != "python":
                    if not isinstance(value, list):
                        raise fail(error, value)
                elif state.strictly(strict) or not _is_iterable(value):
                    raise fail(error, value)
                if state.mode == "python":
                    state.floor(LAX)
            found = _items(value, item, state, schema.get("fail_fast"))
            try:
                return check(exact(found), value)
            except TypeError:
                raise fail("set_item_not_hashable", value) from None

        return named(validate, f"{name}[{item.name if item else 'any'}]")

    return maker


kind("set")(_set(set, "set", "set_type"))
kind("frozenset")(_set(frozenset, "frozenset", "frozen_set_type"))


@kind("generator")
def _generator_schema(schema, build):
    item = build.make(schema["items_schema"]) if "items_schema" in schema else None
    shortest, longest = schema.get("min_length"), schema.get("max_length")

    def validate(value, state):
        if not isinstance(value, abc.Iterable):
            raise fail("iterable_type", value)
        return _Lazy(value, item, state, shortest, longest)

    return named(validate, f"generator[{item.name if item else 'any'}]")


class _Lazy:
    """Validates items when they are taken."""

    def __init__(self, values, item, state, shortest, longest):
        self._values, self._item, self._state = iter(values), item, state
        self._shortest, self._longest, self.index = shortest, longest, 0
        self._given = values

    def __iter__(self):
        return self

    def __next__(self):
        from .validator import raise_error

        try:
            try:
                value = next(self._values)
            except StopIteration:
                if self._shortest is not None and self.index < self._shortest:
                    raise fail("too_short", self._given, field_type="Generator", min_length=self._shortest, actual_length=self.index) from None
                raise
            if self._longest is not None and self.index >= self._longest:
                raise fail("too_long", self._given, field_type="Generator", max_length=self._longest, actual_length=self.index + 1)
            index, self.index = self.index, self.index + 1
            try:
                return self._item(value, self._state) if self._item else value
            except Failure as failure:
                raise failure.within(index) from None
        except Failure as failure:
            raise_error(failure, "ValidatorIterator", self._state)


@kind("dict")
def _dict(schema, build):
    return _mapping(schema, build, "dict", "dict_type", "Dictionary", dict)


@kind("ordered-dict")
def _ordered(schema, build):
    return _mapping(schema, build, "ordered-dict", "ordered_dict_type", "OrderedDict", collections.OrderedDict)


@kind("counter")
def _counter(schema, build):
    return _mapping(schema, build, "counter", "counter_type", "Counter", collections.Counter)


def _mapping(schema, build, name, error, shown, exact):
    strict = build.setting(schema, "strict", default=False)
    key = build.make(schema["keys_schema"]) if "keys_schema" in schema else None
    item = build.make(schema["values_schema"]) if "values_schema" in schema else None
    check = _length(schema, shown)

    def validate(value, state):
        if not isinstance(value, exact):
            if not isinstance(value, (dict, abc.Mapping)) or state.mode == "python" and state.strictly(strict):
                raise fail(error, value)
            state.floor(LAX)
        result, lines = {}, []
        for name, found in value.items():
            failed = False
            try:
                made = key(name, state) if key else name
            except Failure as failure:
                lines += failure.within(name if isinstance(name, (str, int)) else str(name), "[key]").lines
                failed = True
            except PydanticOmit:
                continue
            try:
                check_text(found, state)
                content = item(found, state) if item else found
            except Failure as failure:
                lines += failure.within(name if isinstance(name, (str, int)) else str(name)).lines
                failed = True
            except PydanticOmit:
                continue
            if not failed:
                result[made] = content
            elif schema.get("fail_fast"):
                break
        if lines:
            raise Failure(lines)
        return check(result if exact is dict else exact(result), value)

    return named(validate, f"{name}[{key.name if key else 'any'},{item.name if item else 'any'}]")
