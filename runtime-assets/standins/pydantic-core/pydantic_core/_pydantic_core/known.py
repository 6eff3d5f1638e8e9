"""What of a schema and of its configuration is read here. What is not read would be dropped without a word, so it is refused."""

_BOUNDS = {"strict", "le", "ge", "lt", "gt"}
_ITEMS = {"items_schema", "min_length", "max_length", "fail_fast", "strict"}
_PAIRS = {"keys_schema", "values_schema", "min_length", "max_length", "fail_fast", "strict"}
_URL = {"max_length", "allowed_schemes", "host_required", "default_host", "default_port", "default_path", "strict", "preserve_empty_path"}
_CUSTOM = {"custom_error_type", "custom_error_message", "custom_error_context"}
_FIELDS = {"fields", "computed_fields", "extra_behavior", "extras_schema", "extras_keys_schema"}
_FUNCTION = {"function", "schema", "json_schema_input_schema", "field_name"}

#: Of any schema; the last are for pydantic itself, or for serialization.
_ALWAYS = {"type", "ref", "metadata", "serialization"}
_OF_SCHEMAS = {
    "any": set(), "none": set(), "ellipsis": set(), "missing-sentinel": set(), "bool": {"strict"}, "callable": set(),
    "int": _BOUNDS | {"multiple_of"}, "float": _BOUNDS | {"multiple_of", "allow_inf_nan"},
    "decimal": _BOUNDS | {"multiple_of", "allow_inf_nan", "max_digits", "decimal_places"},
    "fraction": _BOUNDS | {"multiple_of"}, "complex": {"strict"},
    "str": {"pattern", "max_length", "min_length", "strip_whitespace", "to_lower", "to_upper", "ascii_only", "regex_engine", "strict", "coerce_numbers_to_str"},
    "bytes": {"max_length", "min_length", "strict"}, "date": _BOUNDS | {"now_op", "now_utc_offset"},
    "time": _BOUNDS | {"tz_constraint", "microseconds_precision"},
    "datetime": _BOUNDS | {"now_op", "tz_constraint", "now_utc_offset", "microseconds_precision"},
    "timedelta": _BOUNDS | {"microseconds_precision"}, "literal": {"expected"},
    "enum": {"cls", "members", "sub_type", "missing", "strict"}, "is-instance": {"cls", "cls_repr"},
    "is-subclass": {"cls", "cls_repr"}, "uuid": {"version", "strict"}, "list": _ITEMS, "deque": _ITEMS, "set": _ITEMS,
    "frozenset": _ITEMS, "tuple": _ITEMS | {"variadic_item_index"}, "generator": _ITEMS - {"fail_fast"}, "dict": _PAIRS,
    "ordered-dict": _PAIRS, "counter": _PAIRS, "function-before": _FUNCTION, "function-after": _FUNCTION,
    "function-wrap": _FUNCTION, "function-plain": _FUNCTION, "nullable": {"schema"},
    "default": {"schema", "default", "default_factory", "default_factory_takes_data", "on_error", "validate_default", "copy_default"},
    "union": {"choices", "mode", "strict", "auto_collapse"} | _CUSTOM,
    "tagged-union": {"choices", "discriminator", "from_attributes"} | _CUSTOM, "chain": {"steps"},
    "lax-or-strict": {"lax_schema", "strict_schema", "strict"}, "json-or-python": {"json_schema", "python_schema"},
    "typed-dict": _FIELDS | {"cls", "cls_name", "strict", "total", "config"},
    "model-fields": _FIELDS | {"model_name", "from_attributes"},
    "model": {"cls", "generic_origin", "schema", "custom_init", "root_model", "post_init", "revalidate_instances", "strict", "frozen", "config"},
    "dataclass-args": _FIELDS | {"dataclass_name", "collect_init_only"},
    "dataclass": {"cls", "generic_origin", "schema", "fields", "cls_name", "post_init", "revalidate_instances", "strict", "frozen", "slots", "config"},
    "named-tuple": {"cls", "fields", "cls_name", "config"},
    "arguments": {"arguments_schema", "validate_by_name", "validate_by_alias", "var_args_schema", "var_kwargs_mode", "var_kwargs_schema"},
    "call": {"arguments_schema", "function", "function_name", "return_schema"}, "custom-error": {"schema"} | _CUSTOM,
    "json": {"schema"}, "url": _URL, "multi-host-url": _URL, "definitions": {"schema", "definitions"},
    "definition-ref": {"schema_ref"},
}  # fmt: skip
#: Of the configuration; `cache_strings` has no effect on what comes out.
_OF_CONFIG = {
    "title", "strict", "extra_fields_behavior", "typed_dict_total", "from_attributes", "loc_by_alias", "revalidate_instances",
    "validate_default", "str_max_length", "str_min_length", "str_strip_whitespace", "str_to_lower", "str_to_upper",
    "allow_inf_nan", "ser_json_timedelta", "ser_json_temporal", "ser_json_bytes", "ser_json_inf_nan", "val_json_bytes",
    "val_temporal_unit", "hide_input_in_errors", "validation_error_cause", "coerce_numbers_to_str", "regex_engine",
    "cache_strings", "validate_by_alias", "validate_by_name", "serialize_by_alias", "polymorphic_serialization",
    "url_preserve_empty_path", "frozen",
}  # fmt: skip


def check(schema, config):
    known = _OF_SCHEMAS.get(schema["type"])
    if known is not None:
        _refuse(schema, _ALWAYS | known, f"'{schema['type']}'")
    _refuse(config, _OF_CONFIG, "the configuration")
    if config.get("validation_error_cause"):
        raise lacking("'validation_error_cause' of the configuration")


def _refuse(given, known, where):
    for key, value in given.items():
        if key not in known and value is not None and value is not False:
            raise lacking(f"'{key}' of {where}")


def lacking(what):
    return NotImplementedError(f"not available in a skillcell cell: {what} in pydantic; the stand-in for its native code does not do it")
