"""A stand-in for the native half of pydantic-core: validation and serialization of core schemas, in Python.

Pydantic itself, and the other half of pydantic-core, are the real ones. A schema becomes a tree of functions once,
when its class is made; what a kind of schema means is in `validate_*.py` and `serialize.py`.
"""

from . import _schema_gather
from .errors import (
    PydanticCustomError,
    PydanticKnownError,
    PydanticOmit,
    PydanticSerializationError,
    PydanticSerializationUnexpectedValue,
    PydanticUseDefault,
    SchemaError,
    ValidationError,
    list_all_errors,
)
from .serialize import SchemaSerializer, to_json, to_jsonable_python
from .times import TzInfo
from .urls import MultiHostUrl, Url
from .validator import SchemaValidator, from_json
from .values import ArgsKwargs, PydanticUndefined, PydanticUndefinedType, Some

__version__ = "2.50.4"
build_profile = "python"
build_info = "skillcell stand-in in Python"
_recursion_limit = 255
