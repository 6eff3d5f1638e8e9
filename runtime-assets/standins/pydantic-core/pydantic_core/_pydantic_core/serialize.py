"""`SchemaSerializer`: values back to plain Python, and to JSON."""

import json

from .errors import PydanticSerializationError
from .serialize_kinds import Session, maker_of
from .serialize_plain import infer


class SchemaSerializer:
    """Serializes by a core schema."""

    def __init__(self, schema, config=None, _use_prebuilt=True):
        self._schema, self._config = schema, config
        self._serialize = maker_of(schema, config or {}, {})

    def __reduce__(self):
        return SchemaSerializer, (self._schema, self._config)

    def __repr__(self):
        return "SchemaSerializer(serializer=…)"

    def to_python(self, value, *, mode=None, include=None, exclude=None, warnings=True, **settings):
        session = Session(mode or "python", self._config or {}, warnings=warnings, **settings)
        result = self._serialize(value, session, include, exclude)
        session.tell()
        return result

    def to_json(self, value, *, indent=None, ensure_ascii=False, include=None, exclude=None, warnings=True, **settings):
        session = Session("json", self._config or {}, warnings=warnings, **settings)
        session.text = True
        result = self._serialize(value, session, include, exclude)
        session.tell()
        return _dumps(result, indent, ensure_ascii)

    def run(self, value, session, include=None, exclude=None):
        """As a part of another serialization."""
        return self._serialize(value, session, include, exclude)


def _dumps(value, indent, ensure_ascii):
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=ensure_ascii, separators=None if indent else (",", ":"))
    except (TypeError, ValueError, RecursionError) as problem:
        raise PydanticSerializationError(f"Error serializing to JSON: {problem}") from problem
    return text.encode()


def _session(config, settings):
    for name, key in (("timedelta_mode", "ser_json_timedelta"), ("temporal_mode", "ser_json_temporal"), ("bytes_mode", "ser_json_bytes"), ("inf_nan_mode", "ser_json_inf_nan")):
        if name in settings:
            config[key] = settings.pop(name)
    return Session("json", config, warnings=False, **settings)


def to_jsonable_python(value, *, include=None, exclude=None, **settings):
    """Any value as JSON has it."""
    session = _session({"ser_json_inf_nan": "constants"}, settings)
    return infer(value, session, include, exclude)


def to_json(value, *, indent=None, ensure_ascii=False, include=None, exclude=None, **settings):
    """Any value as JSON."""
    session = _session({"ser_json_inf_nan": "constants"}, settings)
    session.text = True
    return _dumps(infer(value, session, include, exclude), indent, ensure_ascii)
