"""Corners of pydantic at which a stand-in could differ without anybody noticing. Each case is compared with the native one:
the same result, the same kinds and places of errors, or a refusal that says so."""

import dataclasses
import datetime as dt
import typing as t
from decimal import Decimal

import pydantic
import typing_extensions
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def attempt(function, *args, **keywords):
    try:
        return shown(function(*args, **keywords))
    except ValidationError as error:
        return {"invalid": [[one["type"], [str(step) for step in one["loc"]]] for one in error.errors(include_url=False)]}
    except NotImplementedError as error:
        return str(error)
    except Exception as error:
        return {"raised": type(error).__name__}


def shown(value):
    if isinstance(value, BaseModel):
        more = [sorted(value.model_fields_set), shown(value.model_extra)] if not isinstance(value, pydantic.RootModel) else []
        return [repr(value), *more]
    if isinstance(value, (list, tuple, dict)):
        return repr(value)
    return value if isinstance(value, (str, bool, type(None))) else repr(value)


def work():
    result = {}
    for name, function in CASES.items():
        for number, found in enumerate(function()):
            result[f"{name} {number}"] = found
    return result


@case
def assignment_to_dataclasses():
    @pydantic.dataclasses.dataclass(config=ConfigDict(validate_assignment=True))
    class Point:
        x: int
        y: int = Field(default=0, ge=0)
        z: t.Annotated[int, Field(frozen=True)] = 1

    @pydantic.dataclasses.dataclass(config=ConfigDict(validate_assignment=True), slots=True)
    class Slotted:
        x: int

    @pydantic.dataclasses.dataclass(config=ConfigDict(validate_assignment=True), frozen=True)
    class Frozen:
        x: int

    for kind in (Point, Slotted, Frozen):
        for name, value in (("x", "5"), ("x", "no"), ("y", -1), ("y", "7"), ("z", 3), ("w", 1)):
            one = kind(1)
            yield [attempt(setattr, one, name, value), repr(one)]


@case
def assignment_to_models():
    class Plain(BaseModel, validate_assignment=True):
        x: int = 0
        y: t.Annotated[str, Field(max_length=3)] = "a"

    class Open(Plain, extra="allow"):
        __pydantic_extra__: dict[str, int]

    class Checked(Plain):
        @pydantic.model_validator(mode="after")
        def small(self):
            if self.x > 10:
                raise ValueError("large")
            return self

    class Before(Plain):
        @pydantic.model_validator(mode="before")
        @classmethod
        def doubled(cls, data):
            if isinstance(data, dict) and data.get("x") == 13:
                raise ValueError("thirteen")
            return data

    class Wrapped(Plain):
        @pydantic.model_validator(mode="wrap")
        @classmethod
        def wrapped(cls, data, handler):
            made = handler(data)
            if made.x == 7:
                raise ValueError("seven")
            return made

    class Dependent(Plain):
        @pydantic.field_validator("y")
        @classmethod
        def looks(cls, value, info):
            return f"{value}{info.data.get('x')}"

    class Root(pydantic.RootModel[int]):
        model_config = ConfigDict(validate_assignment=True)

    for kind in (Plain, Open, Checked, Before, Wrapped, Dependent):
        one = kind()
        for name, value in (("x", "5"), ("x", "no"), ("y", "long text"), ("x", 13), ("x", 7), ("y", "b"), ("w", "4"), ("w", "no")):
            yield [attempt(setattr, one, name, value), shown(one)]
    one = Root(1)
    yield [attempt(setattr, one, "root", "5"), attempt(setattr, one, "root", "no"), repr(one)]


class _Sub(BaseModel):
    secret: str = "s"
    x: int = 1
    y: int = 2


class _Holder(BaseModel):
    subs: list[_Sub] = [_Sub(), _Sub()]
    by: dict[str, _Sub] = {"a": _Sub(), "b": _Sub()}
    one: _Sub = _Sub()
    pair: tuple[_Sub, _Sub] = (_Sub(), _Sub())


@case
def nested_exclude():
    inner = [
        {"secret"}, {"secret": True}, {"secret": ..., "x": False}, {"x"}, ..., True, {"secret": False}, {"x": {"z"}},
        {"x": {"y": ...}, "secret": ...},
    ]
    ways = [{"__all__": one} for one in inner] + [{0: one} for one in inner] + [{-1: one} for one in inner]
    ways += [{"__all__": one, 0: other} for one in inner for other in inner]
    ways += [{0}, {"__all__"}, {1, 0}, {-1}, {-1: {"x"}, 0: {"y"}}, {0: {"x"}, "__all__": {"secret"}, 1: ...}]
    for way in ways:
        for how in ("exclude", "include"):
            yield attempt(_Holder().model_dump, **{how: {"subs": way}})
    for way in [{"a": {"x"}}, {"__all__": {"secret"}, "a": {"x"}}, {"__all__": {"secret": ...}}, {"b"}, {"a": ...}]:
        for how in ("exclude", "include"):
            yield attempt(_Holder().model_dump, **{how: {"by": way}})
    for way in [{"pair": {"__all__": {"secret"}, 0: {"x"}}}, {"pair": {1}}, {"one": {"x"}}, {"one"}, {"__all__"}, {"__all__": {"x"}}]:
        for how in ("exclude", "include"):
            yield attempt(_Holder().model_dump, **{how: way})
            yield attempt(_Holder().model_dump_json, **{how: way})
    yield attempt(_Holder().model_dump, include={"subs": {"__all__": {"x", "secret"}}}, exclude={"subs": {0: {"secret"}}})
    yield attempt(TypeAdapter(list[_Sub]).dump_python, [_Sub(), _Sub()], exclude={"__all__": {"secret"}, 1: {"x"}})


@case
def extras_and_aliases():
    class Aliased(BaseModel, extra="allow"):
        a: int = Field(default=0, alias="b")

    class Both(BaseModel, extra="allow", validate_by_name=True, validate_by_alias=True):
        a: int = Field(default=0, alias="b")

    class Typed(BaseModel, extra="allow"):
        __pydantic_extra__: dict[str, int]
        a: int = Field(default=0, validation_alias=AliasChoices("b", AliasPath("c", 0)))

    class Forbidding(BaseModel, extra="forbid", validate_by_name=True):
        a: int = Field(default=0, validation_alias=AliasPath("c", "d"))

    class ByName(BaseModel, extra="allow", validate_by_alias=False, validate_by_name=True):
        a: int = Field(default=0, alias="b")

    inputs = [
        {}, {"a": "1"}, {"b": "1"}, {"a": "x"}, {"b": "x"}, {"a": "1", "b": "2"}, {"a": "x", "b": "2"}, {"c": ["3"]},
        {"c": {"d": 4}}, {"z": "5"}, {"z": "x", "b": 1}, {"c": ["3"], "b": "2"},
    ]
    for kind in (Aliased, Both, Typed, Forbidding, ByName):
        for given in inputs:
            yield attempt(kind.model_validate, given)
            yield attempt(lambda: kind.model_validate(given).model_dump(by_alias=True))


@case
def temporal_units():
    for unit in ("infer", "seconds", "milliseconds"):
        config = ConfigDict(val_temporal_unit=unit)
        for kind in (dt.datetime, dt.date, dt.timedelta, dt.time):
            adapter = TypeAdapter(kind, config=config)
            for value in (0, 86400, 86_400_000, 1_700_000_000, 1_700_000_000_000, 1.5, "1700000000", "1700000000000", "1.5", -86400):
                yield attempt(adapter.validate_python, value)
                yield attempt(adapter.validate_json, value if isinstance(value, str) else str(value))


@case
def fail_fast():
    for kind in (list[int], tuple[int, ...], set[int], frozenset[int], tuple[int, int]):
        adapter = TypeAdapter(t.Annotated[kind, pydantic.FailFast()])
        for value in (["a", "b"], [1, "b", "c"], ["1", 2]):
            yield attempt(adapter.validate_python, value)
    class Quick(BaseModel):
        x: t.Annotated[list[int], pydantic.FailFast()]
        y: list[int]

    yield attempt(Quick, x=["a", "b"], y=["a", "b"])


@case
def patterns():
    texts = ["1", "1\n", "12", "a\x1c", "a ", "foo", "xfoo x", "ABC", "aa", "\n", "b\na\nc", "", "Ünder", "\u0663"]
    for pattern in (
        r"^\d+$", r"^a\s$", r"\bfoo\b", r"^[^\s]+$", r"(?i)^abc$", r"^(?P<x>a)(?<y>b?)$", r"^a{2,}$", r"^.$", r"(?m)^a$", r"(?s)^.$",
        r"^\w+$", r"a\z", r"[$]|^$", r"\$", "^[a-z]$|^$", r"^[\d\s]+$",
    ):
        adapter = TypeAdapter(t.Annotated[str, Field(pattern=pattern)])
        for text in texts:
            yield attempt(adapter.validate_python, text)
    for pattern in (r"a(?=b)", r"(a)\1", r"(?<!a)b", r"(?>a)", "["):
        yield attempt(TypeAdapter, t.Annotated[str, Field(pattern=pattern)])
    python = TypeAdapter(t.Annotated[str, Field(pattern=r"^\d+$")], config=ConfigDict(regex_engine="python-re"))
    for text in texts:
        yield attempt(python.validate_python, text)


@case
def moments():
    for settings in ({"microseconds_precision": "error"}, {"microseconds_precision": "truncate"}):
        for kind, text in (("datetime", "2026-01-01T00:00:00.1234567"), ("time", "00:00:00.1234567"), ("timedelta", "PT0.1234567S"), ("timedelta", "00:00:01.1234567")):
            validator = attempt(lambda: pydantic.TypeAdapter(t.Any) and pydantic_core().SchemaValidator({"type": kind, **settings}))
            yield validator if isinstance(validator, str) and validator.startswith("not available") else attempt(
                pydantic_core().SchemaValidator({"type": kind, **settings}).validate_python, text
            )
    for text in ("2026-01-01", "2026-01-01T10:00:00Z", "2026-13-01", "2026-02-30", "", "x", "2026-01-01T25:00:00"):
        for kind in (dt.date, dt.datetime, dt.time, pydantic.PastDate, pydantic.FutureDate, pydantic.AwareDatetime, pydantic.NaiveDatetime):
            yield attempt(TypeAdapter(kind).validate_python, text)


def pydantic_core():
    import pydantic_core

    return pydantic_core


@case
def strictness():
    class Strict(BaseModel, strict=True):
        x: int = 0
        y: float = 0.0
        when: dt.date | None = None
        some: tuple[int, ...] = ()

    class Parent(BaseModel):
        child: Strict = Strict()

    for kind, name in ((Strict, None), (Parent, "child")):
        for given in ({"x": "1"}, {"x": 1.0}, {"x": True}, {"y": 1}, {"when": "2026-01-01"}, {"some": [1]}, {"some": (1,)}, {}):
            whole = given if name is None else {name: given}
            yield attempt(kind.model_validate, whole)
            yield attempt(kind.model_validate, whole, strict=False)
            yield attempt(kind.model_validate_strings, whole)


@case
def numbers():
    adapters = [
        TypeAdapter(t.Annotated[int, Field(multiple_of=3, le=30)]), TypeAdapter(t.Annotated[float, Field(multiple_of=0.1)]),
        TypeAdapter(t.Annotated[Decimal, Field(max_digits=4, decimal_places=2)]), TypeAdapter(bool), TypeAdapter(int), TypeAdapter(float),
        TypeAdapter(int | str), TypeAdapter(float | int), TypeAdapter(bool | int | str), TypeAdapter(t.Literal[1, "a", None]),
    ]
    values = [0, 3, 33, "3", "3.0", " 3 ", "1_000", 0.3, 0.30000001, 1e300, float("nan"), "nan", True, "yes", "on", 2, "12.345", 12.34, "1e2", b"3", None, 2**70, "", "٣"]
    for adapter in adapters:
        for value in values:
            yield attempt(adapter.validate_python, value)


@case
def serialization():
    class Item(BaseModel):
        price: Decimal = Decimal("1.50")
        data: bytes = b"a"
        when: dt.datetime = dt.datetime(2026, 1, 2, 3, 4, 5, 600, tzinfo=dt.timezone.utc)
        gap: dt.timedelta = dt.timedelta(days=1, seconds=1.5)
        some: set[int] = {1}
        hidden: int = Field(default=1, exclude=True)
        maybe: int | None = None
        aliased: int = Field(default=3, serialization_alias="other")

        @pydantic.computed_field
        @property
        def twice(self) -> int:
            return self.aliased * 2

    for settings in (
        {}, {"exclude_none": True}, {"exclude_unset": True}, {"exclude_defaults": True}, {"by_alias": True}, {"round_trip": True},
        {"mode": "json"}, {"mode": "json", "include": {"price", "twice"}}, {"exclude": {"twice"}}, {"exclude_computed_fields": True},
    ):
        yield attempt(Item().model_dump, **settings)
        yield attempt(Item(maybe=1, aliased=4).model_dump, **settings)
    for config in ({"ser_json_timedelta": "float"}, {"ser_json_bytes": "base64"}, {"ser_json_temporal": "seconds"}, {"ser_json_temporal": "milliseconds"}, {"ser_json_inf_nan": "strings"}):
        made = type("Made", (Item,), {"model_config": ConfigDict(**config), "__annotations__": {"x": float}, "x": float("inf")})
        yield attempt(made().model_dump_json)


@case
def dataclasses_with_extras():
    @pydantic.dataclasses.dataclass(config=ConfigDict(extra="allow"))
    class Open:
        a: int = 1

    @pydantic.dataclasses.dataclass(config=ConfigDict(extra="allow"))
    class Aliased:
        a: int = Field(default=1, alias="z")

    class Typed(typing_extensions.TypedDict):
        a: int

    Typed.__pydantic_config__ = ConfigDict(extra="allow")

    for kind in (Open, Aliased, Typed):
        adapter = TypeAdapter(kind)
        for given in ({"a": "2"}, {"a": "no"}, {"a": 2, "b": "x"}, {"b": "x"}):
            yield attempt(lambda: repr(getattr(adapter.validate_python(given), "__dict__", None) or adapter.validate_python(given)))
            yield attempt(lambda: adapter.dump_python(adapter.validate_python(given)))
            yield attempt(lambda: adapter.dump_json(adapter.validate_python(given), exclude={"a"}).decode())


@case
def error_causes():
    yield attempt(lambda: type("Caused", (BaseModel,), {"model_config": ConfigDict(validation_error_cause=True), "__annotations__": {"x": int}})(x="a"))


@case
def plain_dataclasses():
    @dataclasses.dataclass
    class Inner:
        x: int
        y: list[int] = dataclasses.field(default_factory=list)

    class Outer(BaseModel):
        inner: Inner

    for given in ({"x": "1"}, {"x": "no"}, {"x": 1, "z": 2}, {}, [1]):
        yield attempt(Outer, inner=given)
        yield attempt(TypeAdapter(Inner, config=None).validate_python, given)
