"""The base of all types: fields by name, in snake_case here and in camelCase on the wire."""

import base64
import enum
import re


class CaseInSensitiveEnum(str, enum.Enum):
    """A text with known values; others are kept as they are."""

    @classmethod
    def _missing_(cls, value):
        value = str(value).upper()
        for member in cls:
            if member.value == value:
                return member
        member = str.__new__(cls, value)
        member._name_ = member._value_ = value
        return member


def camel(name):
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)


class Model:
    """`FIELDS` maps a field to its type, if that is another model or an enum."""

    FIELDS = {}

    def __init__(self, **values):
        given = {snake(name): value for name, value in values.items()}
        unknown = [name for name in given if name not in self.FIELDS]
        if unknown:
            raise ValueError(f"{type(self).__name__} has no field {', '.join(unknown)} (extra inputs are not permitted)")
        for name, kind in self.FIELDS.items():
            setattr(self, name, read(given.get(name), kind))

    @classmethod
    def model_validate(cls, value):
        """From a dictionary, or from an answer: what is not known is left out."""
        if isinstance(value, cls):
            return value
        return cls(**{name: found for name, found in value.items() if snake(name) in cls.FIELDS})

    def model_dump(self, exclude_none=False, **_):
        values = {name: plain(getattr(self, name), exclude_none) for name in self.FIELDS}
        return {name: value for name, value in values.items() if value is not None or not exclude_none}

    def to_json_dict(self):
        return {name: plain(value, True) for name, value in vars(self).items() if value is not None}

    def __eq__(self, other):
        return vars(self) == vars(other) if type(self) is type(other) else NotImplemented

    def __repr__(self):
        shown = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if value is not None)
        return f"{type(self).__name__}({shown})"


def read(value, kind):
    if value is None or kind is None:
        return value
    if kind is bytes:
        return base64.b64decode(value) if isinstance(value, str) else bytes(value)
    if isinstance(value, list):
        return [read(item, kind) for item in value]
    if issubclass(kind, enum.Enum):
        return kind(value)
    return kind.model_validate(value) if isinstance(value, dict) else value


def plain(value, exclude_none):
    if isinstance(value, Model):
        return value.model_dump(exclude_none)
    if isinstance(value, list):
        return [plain(item, exclude_none) for item in value]
    return value


def wire(value):
    """A value as JSON has it. Keys of plain dictionaries are the caller's own."""
    if isinstance(value, Model):
        return {camel(name): wire(found) for name, found in vars(value).items() if found is not None}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, (list, tuple)):
        return [wire(item) for item in value]
    if isinstance(value, dict):
        return {key: wire(item) for key, item in value.items()}
    return value
