"""Serialization by schema: each kind becomes a function from (value, session, include, exclude)."""

import collections
import contextlib
import dataclasses
import datetime as dt
import decimal
import enum
import warnings as _warnings

from .errors import PydanticOmit, PydanticSerializationError, PydanticSerializationUnexpectedValue
from .serialize_plain import binary, choose, infer, items, key_of, mapping, number, temporal
from .shown import shorten, show_type


class Session:
    """One serialization: its settings, and the warnings so far."""

    def __init__(
        self, mode, config, *, warnings=True, by_alias=None, exclude_unset=False, exclude_defaults=False,
        exclude_none=False, exclude_computed_fields=False, round_trip=False, fallback=None, serialize_as_any=False,
        polymorphic_serialization=None, context=None, serialize_unknown=False,
    ):
        self.mode, self.json, self.config = mode, mode == "json", config
        self.by_alias, self.context, self.fallback = by_alias, context, fallback
        self.exclude_unset, self.exclude_defaults, self.exclude_none = exclude_unset, exclude_defaults, exclude_none
        self.exclude_computed_fields, self.round_trip = exclude_computed_fields, round_trip
        self.serialize_as_any, self.serialize_unknown = serialize_as_any, serialize_unknown
        self.polymorphic_serialization = polymorphic_serialization
        self.warnings = {True: "warn", False: "none"}.get(warnings, warnings)
        self.found, self.active, self.field_name = [], set(), None
        # `text`: JSON itself is wanted, not what could become JSON.
        self.quiet, self.exact, self.text = 0, False, False

    @contextlib.contextmanager
    def inside(self, value):
        """A value that holds itself would go on for ever."""
        if id(value) in self.active:
            raise ValueError("Circular reference detected (id repeated)")
        self.active.add(id(value))
        try:
            yield
        finally:
            self.active.discard(id(value))

    def unexpected(self, expected, value, text=None):
        """The value is not what its schema says: serialized by what it is, with a warning."""
        if self.quiet:
            raise PydanticSerializationUnexpectedValue()
        if self.warnings != "none" and value is not None:
            field = f"field_name={self.field_name!r}, " if self.field_name else ""
            text = text or (
                f"Expected `{expected}` - serialized value may not be as expected "
                f"[{field}input_value={shorten(value)}, input_type={show_type(value)}]"
            )
            self.found.append(f"  PydanticSerializationUnexpectedValue({text})")

    def tell(self):
        if self.found:
            text = "Pydantic serializer warnings:\n" + "\n".join(self.found)
            if self.warnings == "error":
                raise PydanticSerializationError(text)
            _warnings.warn(text, UserWarning, stacklevel=3)


class SerializationInfo:
    """What a serializer function is told besides the value."""

    def __init__(self, session, include, exclude, field_name=None):
        self.include, self.exclude, self.context, self.mode = include, exclude, session.context, session.mode
        self.by_alias = bool(session.by_alias)
        self.exclude_unset, self.exclude_defaults = session.exclude_unset, session.exclude_defaults
        self.exclude_none, self.round_trip = session.exclude_none, session.round_trip
        self.exclude_computed_fields, self.serialize_as_any = session.exclude_computed_fields, session.serialize_as_any
        self.polymorphic_serialization = session.polymorphic_serialization
        if field_name is not None:
            self.field_name = field_name

    def mode_is_json(self):
        return self.mode == "json"


def maker_of(schema, config, definitions):
    """The serializer of a schema."""
    special = schema.get("serialization")
    if special:
        return _special(schema, special, config, definitions)
    return _by_kind(schema, config, definitions)


def _by_kind(schema, config, definitions):
    kind = schema["type"]
    make = _KINDS.get(kind)
    if make is not None:
        return make(schema, config, definitions)
    if kind in _LEAVES:
        return _leaf(kind)
    return lambda value, session, include, exclude: infer(value, session, include, exclude)


def _when(special):
    used = special.get("when_used", "always")

    def applies(value, session):
        if used == "always":
            return True
        if used == "unless-none":
            return value is not None
        return session.json and (used == "json" or value is not None)

    return applies


def _special(schema, special, config, definitions):
    """The serializer that a schema's own `serialization` describes."""
    kind = special["type"]
    plain = {**schema}
    del plain["serialization"]
    if kind in ("include-exclude-sequence", "include-exclude-dict"):
        inner = _by_kind(plain, config, definitions)
        within, without = special.get("include"), special.get("exclude")

        def filtered(value, session, include, exclude):
            return inner(value, session, include if include is not None else within, exclude if exclude is not None else without)

        return filtered
    if kind in ("function-plain", "function-wrap"):
        return _function(plain, special, config, definitions)
    if kind == "to-string":
        applies = _when(special) if "when_used" in special else _when({"when_used": "json-unless-none"})
        inner = _by_kind(plain, config, definitions)
        return lambda value, session, include, exclude: str(value) if applies(value, session) else inner(value, session, include, exclude)
    if kind == "format":
        applies = _when({"when_used": special.get("when_used", "json-unless-none")})
        inner = _by_kind(plain, config, definitions)
        text = special["formatting_string"]
        return lambda value, session, include, exclude: format(value, text) if applies(value, session) else inner(value, session, include, exclude)
    if kind == "model":
        return _model({**special, "type": "model"}, config, definitions)
    return _by_kind({**plain, **special, "type": kind}, config, definitions) if kind in _KINDS else _leaf(kind) if kind in _LEAVES else infer


def _function(plain, special, config, definitions):
    call, wraps = special["function"], special["type"] == "function-wrap"
    of_field, wants_info = special.get("is_field_serializer", False), special.get("info_arg", False)
    applies = _when(special)
    given = special.get("return_schema")
    result_of = maker_of(given, config, definitions) if given and given["type"] != "any" else None
    inner = maker_of(special["schema"], config, definitions) if wraps and "schema" in special else _by_kind(plain, config, definitions)

    def serialize(value, session, include, exclude, owner=None):
        if not applies(value, session):
            return inner(value, session, include, exclude)
        args = [value] if not of_field else [owner, value]
        if wraps:
            args.append(lambda found, index=None: inner(found, session, include, exclude))
        if wants_info:
            args.append(SerializationInfo(session, include, exclude, session.field_name if of_field else None))
        try:
            result = call(*args)
        except PydanticSerializationUnexpectedValue as problem:
            session.unexpected(None, value, str(problem))
            return infer(value, session, include, exclude)
        if result_of is not None:
            return result_of(result, session, include, exclude)
        return infer(result, session, include, exclude, own=result is not value)

    serialize.wants_owner = of_field
    return serialize


_LEAVES = {
    "none": (type(None),), "bool": (bool,), "int": (int,), "float": (float, int), "str": (str,), "bytes": (bytes,),
    "decimal": (decimal.Decimal,), "datetime": (dt.datetime,), "date": (dt.date,), "time": (dt.time,),
    "timedelta": (dt.timedelta,),
}


def _leaf(kind):
    kinds = _LEAVES[kind]
    exact = kinds[0]

    def serialize(value, session, include=None, exclude=None):
        fits = type(value) is exact if session.exact else isinstance(value, kinds)
        if not fits or kind in ("int", "float") and isinstance(value, bool):
            session.unexpected("none" if kind == "none" else kind, value)
            return infer(value, session, include, exclude)
        if not session.json:
            return value
        if kind in ("bool", "none", "int", "str") and type(value) is exact:
            return value
        if kind == "float":
            return number(float(value), session)
        if kind == "bytes":
            return binary(value, session)
        if kind in ("datetime", "date", "time", "timedelta"):
            return temporal(value, session)
        return infer(value, session)

    return serialize


def _inner(key):
    def make(schema, config, definitions):
        return maker_of(schema[key], config, definitions)

    return make


def _name(schema):
    """What a schema is called in warnings."""
    if schema is None:
        return "any"
    if "cls" in schema:
        return schema["cls"].__name__
    return _name(schema["schema"]) if "schema" in schema and schema["type"] != "nullable" else schema["type"]


def _nullable(schema, config, definitions):
    inner = maker_of(schema["schema"], config, definitions)
    return lambda value, session, include, exclude: None if value is None else inner(value, session, include, exclude)


def _sequence(name, kinds):
    def make(schema, config, definitions):
        item = maker_of(schema["items_schema"], config, definitions) if "items_schema" in schema else None

        def serialize(value, session, include, exclude):
            if not isinstance(value, kinds):
                session.unexpected(f"{name}[{_name(schema.get('items_schema'))}]", value)
                return infer(value, session, include, exclude)
            with session.inside(value):
                make_same = (lambda found: kinds[0](found)) if not session.json else None
                return items(value, session, include, exclude, item, make_same)

        return serialize

    return make


def _tuple(schema, config, definitions):
    makers = [maker_of(item, config, definitions) for item in schema["items_schema"]]
    variadic = schema.get("variadic_item_index")

    def serialize(value, session, include, exclude):
        if not isinstance(value, tuple):
            session.unexpected("tuple", value)
            return infer(value, session, include, exclude)
        if variadic is None:
            chosen = makers
        else:
            chosen = makers[:variadic] + [makers[variadic]] * max(0, len(value) - len(makers) + 1) + makers[variadic + 1 :]
        steps = iter(list(chosen) + [lambda v, s, i, e: infer(v, s, i, e)] * max(0, len(value) - len(chosen)))
        with session.inside(value):
            return items(value, session, include, exclude, lambda v, s, i, e: next(steps)(v, s, i, e), tuple)

    return serialize


def _dict(schema, config, definitions):
    kind = {"ordered-dict": collections.OrderedDict, "counter": collections.Counter}.get(schema["type"], dict)
    key = maker_of(schema["keys_schema"], config, definitions) if "keys_schema" in schema else None
    item = maker_of(schema["values_schema"], config, definitions) if "values_schema" in schema else None

    def key_text(name, session):
        return key_of(key(name, session, None, None) if key and not session.json else name, session)

    def serialize(value, session, include, exclude):
        if not isinstance(value, dict):
            session.unexpected(f"dict[{_name(schema.get('keys_schema'))}, {_name(schema.get('values_schema'))}]", value)
            return infer(value, session, include, exclude)
        with session.inside(value):
            result = mapping(value, session, include, exclude, key_text, item)
        return result if session.json or kind is dict else kind(result)

    return serialize


def _enum(schema, config, definitions):
    cls = schema["cls"]

    def serialize(value, session, include, exclude):
        if not isinstance(value, cls):
            session.unexpected("enum", value)
            return infer(value, session)
        return infer(value.value, session) if session.json else value

    return serialize


def _union(schema, config, definitions):
    choices = schema["choices"]
    makers = [
        maker_of(choice[0] if isinstance(choice, tuple) else choice, config, definitions)
        for choice in (choices.values() if isinstance(choices, dict) else choices)
    ]

    def serialize(value, session, include, exclude):
        # First who takes it as it is, then who takes it at all.
        for exact in (True, False):
            for make in makers:
                outer, session.exact = session.exact, exact
                session.quiet += 1
                try:
                    return make(value, session, include, exclude)
                except (PydanticSerializationUnexpectedValue, PydanticSerializationError):
                    pass
                finally:
                    session.quiet -= 1
                    session.exact = outer
        if session.quiet:
            raise PydanticSerializationUnexpectedValue()
        return infer(value, session, include, exclude)

    return serialize


class _Field:
    """How one field is written."""

    def __init__(self, name, schema, config, definitions):
        self.name, self.alias = name, schema.get("serialization_alias")
        self.excluded, self.exclude_if = schema.get("serialization_exclude", False), schema.get("serialization_exclude_if")
        inner = schema["schema"]
        self.serialize = maker_of(inner, config, definitions)
        while inner["type"] in ("function-before", "function-after", "function-wrap") and "schema" in inner:
            inner = inner["schema"]
        self.has_default = inner["type"] == "default" and "default" in inner
        self.default = inner.get("default")

    def is_default(self, value):
        return self.has_default and value == self.default


def _wants_owner(serialize):
    return getattr(serialize, "wants_owner", False)


def _fields(schema, config, definitions):
    """Writes the fields of an object: (owner, values, given, session, include, exclude)."""
    listed = schema["fields"]
    pairs = listed.items() if isinstance(listed, dict) else [(field["name"], field) for field in listed]
    fields = {name: _Field(name, field, config, definitions) for name, field in pairs}
    computed = [
        (field["property_name"], field.get("alias") or field["property_name"], maker_of(field["return_schema"], config, definitions), field.get("serialization_exclude_if"))
        for field in schema.get("computed_fields", ())
    ]
    extras = maker_of(schema["extras_schema"], config, definitions) if schema.get("extras_schema") else None
    default_alias = config.get("serialize_by_alias", False)

    def write(owner, values, more, given, session, include, exclude):
        result = {}
        by_alias = default_alias if session.by_alias is None else session.by_alias
        outer = session.field_name
        pairs = [(name, value, fields[name]) for name, value in values.items() if name in fields]
        for name, value, field in pairs + [(name, value, None) for name, value in more.items()]:
            wanted, within, without = choose(name, include, exclude)
            if not wanted or session.exclude_none and value is None:
                continue
            if field is None:
                result[name] = (extras or infer)(value, session, within, without)
                continue
            if field.excluded or session.exclude_unset and given is not None and name not in given:
                continue
            if session.exclude_defaults and field.is_default(value):
                continue
            if field.exclude_if is not None and field.exclude_if(value):
                continue
            if value is _missing():
                continue
            session.field_name = name
            serialize = field.serialize
            if session.serialize_as_any and not _wants_owner(serialize):
                serialize = infer
            try:
                written = _call(serialize, owner, value, session, within, without)
            except PydanticOmit:
                continue
            result[field.alias if by_alias and field.alias else name] = written
        if not session.round_trip and not session.exclude_computed_fields:
            for name, alias, serialize, exclude_if in computed:
                wanted, within, without = choose(name, include, exclude)
                if not wanted:
                    continue
                value = getattr(owner, name)
                if session.exclude_none and value is None or exclude_if is not None and exclude_if(value):
                    continue
                session.field_name = name
                result[alias if by_alias else name] = _call(serialize, owner, value, session, within, without)
        session.field_name = outer
        return result

    return write


def _missing():
    from pydantic_core import MISSING

    return MISSING


def _call(serialize, owner, value, session, include, exclude):
    if _wants_owner(serialize):
        return serialize(value, session, include, exclude, owner)
    return serialize(value, session, include, exclude)


def _inside(schema, kinds):
    """The schema of the fields, under validators that don't matter here."""
    while schema["type"] not in kinds:
        schema = schema["schema"]
    return schema


def _model(schema, config, definitions):
    cls = schema["cls"]
    config = schema.get("config", config) or {}
    if schema.get("root_model"):
        inner = maker_of(schema["schema"], config, definitions)
        serialize_root = lambda value, session, include, exclude: inner(value.root, session, include, exclude)
        write = None
    else:
        found = schema["schema"]
        while found["type"] not in ("model-fields", "definitions"):
            found = found["schema"]
        if found["type"] == "definitions":
            for definition in found["definitions"]:
                definitions.setdefault(definition["ref"], None)
            for definition in found["definitions"]:
                definitions[definition["ref"]] = maker_of(definition, config, definitions)
            found = _inside(found["schema"], ("model-fields",))
        write = _fields(found, config, definitions)

    def serialize(value, session, include, exclude):
        if not isinstance(value, cls) or session.exact and type(value) is not cls:
            session.unexpected(cls.__name__, value)
            return infer(value, session, include, exclude)
        if (session.serialize_as_any or session.polymorphic_serialization) and type(value) is not cls:
            return infer(value, session, include, exclude)
        outer, session.config = session.config, {**session.config, **config}
        try:
            with session.inside(value):
                if write is None:
                    return serialize_root(value, session, include, exclude)
                return write(value, value.__dict__, value.__pydantic_extra__ or {}, value.__pydantic_fields_set__, session, include, exclude)
        finally:
            session.config = outer

    return serialize


def _dataclass(schema, config, definitions):
    cls, names = schema["cls"], schema["fields"]
    config = schema.get("config", config) or {}
    write = _fields(_inside(schema["schema"], ("dataclass-args",)), config, definitions)

    def serialize(value, session, include, exclude):
        if not isinstance(value, cls):
            session.unexpected(cls.__name__, value)
            return infer(value, session, include, exclude)
        known = names or [field.name for field in dataclasses.fields(value)]
        values = {name: getattr(value, name) for name in known if hasattr(value, name)}
        with session.inside(value):
            return write(value, values, {}, None, session, include, exclude)

    return serialize


def _typed_dict(schema, config, definitions):
    write = _fields(schema, schema.get("config", config) or {}, definitions)

    def serialize(value, session, include, exclude):
        if not isinstance(value, dict):
            session.unexpected(schema.get("cls_name", "TypedDict"), value)
            return infer(value, session, include, exclude)
        with session.inside(value):
            more = {name: found for name, found in value.items() if name not in schema["fields"]}
            return write(value, value, more, None, session, include, exclude)

    return serialize


def _definitions(schema, config, definitions):
    for definition in schema["definitions"]:
        definitions.setdefault(definition["ref"], None)
    for definition in schema["definitions"]:
        definitions[definition["ref"]] = maker_of(definition, config, definitions)
    return maker_of(schema["schema"], config, definitions)


def _reference(schema, config, definitions):
    ref = schema["schema_ref"]
    return lambda value, session, include, exclude: definitions[ref](value, session, include, exclude)


def _json(schema, config, definitions):
    inner = maker_of(schema["schema"], config, definitions) if "schema" in schema else infer

    def serialize(value, session, include, exclude):
        if session.round_trip:
            import json

            return json.dumps(inner(value, session, include, exclude), separators=(",", ":"))
        return inner(value, session, include, exclude)

    return serialize


def _chain(schema, config, definitions):
    return maker_of(schema["steps"][-1], config, definitions)


def _literal(schema, config, definitions):
    expected = schema["expected"]

    def serialize(value, session, include, exclude):
        if value not in expected and not (isinstance(value, enum.Enum) and value.value in expected):
            session.unexpected(f"literal[{','.join(map(repr, expected))}]", value)
        return infer(value, session)

    return serialize


_KINDS = {
    "default": _inner("schema"), "function-before": _inner("schema"), "function-after": _inner("schema"),
    "function-wrap": _inner("schema"), "custom-error": _inner("schema"), "lax-or-strict": _inner("strict_schema"),
    "json-or-python": _inner("json_schema"), "nullable": _nullable, "list": _sequence("list", (list,)),
    "set": _sequence("set", (set,)), "frozenset": _sequence("frozenset", (frozenset,)), "tuple": _tuple, "dict": _dict,
    "ordered-dict": _dict, "counter": _dict,
    "enum": _enum, "union": _union, "tagged-union": _union, "model": _model, "dataclass": _dataclass,
    "typed-dict": _typed_dict, "definitions": _definitions, "definition-ref": _reference, "json": _json,
    "chain": _chain, "literal": _literal,
}
