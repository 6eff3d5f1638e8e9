"""What pydantic's users do with models."""

import datetime
import decimal
import enum
import uuid
from typing import Annotated, Any, Generic, Literal, Optional, TypeVar, Union

from pydantic import (
    AliasChoices, BaseModel, ConfigDict, Field, RootModel, SecretStr, TypeAdapter, ValidationError, computed_field,
    field_serializer, field_validator, model_validator, validate_call,
)
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass


class Colour(enum.Enum):
    RED = "red"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: Annotated[int, Field(ge=0, le=9)] = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: Annotated[str, Field(min_length=2, pattern="^[A-Z]")]


class Owner(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")
    full_name: str
    pets: list[Annotated[Union[Cat, Dog], Field(discriminator="kind")]] = []
    born: Optional[datetime.date] = None
    colour: Colour = Colour.RED


class Order(BaseModel):
    id: uuid.UUID
    lines: dict[str, decimal.Decimal]
    at: datetime.datetime
    secret: SecretStr = SecretStr("x")
    note: str = Field(default="", validation_alias=AliasChoices("note", "comment"), max_length=5)

    @field_validator("lines")
    @classmethod
    def not_empty(cls, value):
        if not value:
            raise ValueError("no lines")
        return value

    @model_validator(mode="after")
    def together(self):
        assert self.note != "bad", "a bad note"
        return self

    @computed_field
    @property
    def total(self) -> decimal.Decimal:
        return sum(self.lines.values())

    @field_serializer("at")
    def year(self, value):
        return value.year


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]
    next: Optional[int] = None


class Numbers(RootModel[list[int]]):
    pass


@dataclass
class Point:
    x: int
    y: float = 0.5


@validate_call
def area(width: int, height: Annotated[int, Field(gt=0)] = 2) -> int:
    return width * height


VALUES = [
    1, "1", " 2 ", "1.0", 1.5, "x", True, None, [1, "2"], {"a": "1"}, "2020-02-03", "2020-02-03T04:05:06Z", 1600000000,
    "red", "true", b"\x61", {"kind": "cat"}, {"kind": "dog", "name": "x"}, {"value": 1, "children": [{"value": "2"}]},
]
TYPES = [
    int, float, str, bool, bytes, list[int], dict[str, int], tuple[int, ...], set[int], Optional[int], Union[int, str],
    Union[list[int], dict[str, int]], Colour, datetime.date, datetime.datetime, decimal.Decimal, Cat, Tree, Any,
    Annotated[Union[Cat, Dog], Field(discriminator="kind")],
]


def told(call):
    try:
        return repr(call())
    except ValidationError as error:
        # What went wrong, and where. The words for it are each one's own.
        return [[found["type"], list(found["loc"])] for found in error.errors()]


def work():
    owner = {"fullName": "Ann", "pets": [{"kind": "cat", "lives": "3"}, {"kind": "dog", "name": "Rex"}], "born": "2000-01-02"}
    order = {"id": "12345678-1234-5678-1234-567812345678", "lines": {"a": "1.50", "b": 2}, "at": "2024-05-06T07:08:09+02:00"}
    cases = {
        "owner": lambda: Owner(**owner),
        "owner as JSON": lambda: Owner(**owner).model_dump_json(by_alias=True),
        "owner, wrong": lambda: Owner(fullName=1, pets=[{"kind": "cat", "lives": 10}, {"kind": "cow"}, {}], other=1),
        "order": lambda: Order(**order, comment="hi"),
        "order as Python": lambda: Order(**order).model_dump(exclude={"id"}),
        "order as JSON": lambda: Order(**order).model_dump_json(indent=2),
        "order, wrong": lambda: Order(id="x1", lines={}, at="never", note="too long"),
        "order, bad": lambda: Order(**order, note="bad"),
        "order, without": lambda: Order(**order).model_dump(exclude_unset=True, include={"lines", "note", "total"}),
        "tree": lambda: Tree.model_validate_json('{"value": 1, "children": [{"value": "2"}, {"value": 3}]}'),
        "tree, wrong": lambda: Tree(value=1, children=[{"value": 2, "children": [{"value": "x"}]}]),
        "page": lambda: Page[Point](items=[{"x": "1"}, Point(2, 3)]).model_dump(),
        "page, strict": lambda: Page[int].model_validate({"items": ["1"]}, strict=True),
        "numbers": lambda: Numbers(["1", 2]).model_dump_json(),
        "point": lambda: Point("4"),
        "point, wrong": lambda: Point(x="q", y=None),
        "area": lambda: area("3"),
        "area, wrong": lambda: area("x", height=0),
        "copied": lambda: Tree(value=1).model_copy(update={"value": 5}) == Tree(value=5),
        "schema": lambda: sorted(Owner.model_json_schema()["properties"]),
    }
    table = {}
    for number, kind in enumerate(TYPES):
        adapter = TypeAdapter(kind)
        for strict in (False, True):
            table[f"{number} {strict}"] = [told(lambda: adapter.validate_python(value, strict=strict)) for value in VALUES]
    return {"cases": {name: told(call) for name, call in cases.items()}, "table": table}
