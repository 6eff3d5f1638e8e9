"""Finds the references of a core schema, for pydantic's cleaning of it."""


class MissingDefinitionError(LookupError):
    """A reference to a definition that is not there."""


# Where schemas lie in schemas, by key; the values may be a schema, or a list or a dictionary of them.
_INNER = (
    "schema", "items_schema", "keys_schema", "values_schema", "extras_schema", "extras_keys_schema", "json_schema",
    "python_schema", "lax_schema", "strict_schema", "arguments_schema", "return_schema", "var_args_schema",
    "var_kwargs_schema",
)


def gather_schemas_for_cleaning(schema, definitions):
    collected, deferred = {}, []

    def visit(found):
        if isinstance(found, tuple):
            return visit(found[0])
        kind = found["type"]
        if kind == "definition-ref":
            name = found["schema_ref"]
            if name in collected:
                collected[name] = None
            else:
                if name not in definitions:
                    raise MissingDefinitionError(name)
                collected[name] = found
                visit(definitions[name])
        if "serialization" in found:
            visit_serialization(found["serialization"])
        if "metadata" in found and found["metadata"].get("pydantic_internal_union_discriminator") is not None:
            deferred.append(found)
        for key in _INNER:
            if key in found and isinstance(found[key], dict):
                visit(found[key])
        if kind == "tuple":
            for item in found["items_schema"]:
                visit(item)
        for choice in found.get("choices", {}).values() if isinstance(found.get("choices"), dict) else found.get("choices", ()):
            visit(choice)
        for step in found.get("steps", ()):
            visit(step)
        fields = found.get("fields", ()) if kind != "dataclass" else ()
        for field in fields.values() if isinstance(fields, dict) else fields:
            visit(field["schema"])
        for field in found.get("computed_fields", ()):
            visit(field["return_schema"])
        for argument in found.get("arguments_schema", ()) if kind.startswith("arguments") else ():
            visit(argument["schema"])
        for definition in found.get("definitions", ()):
            visit(definition)

    def visit_serialization(found):
        for key in ("schema", "return_schema"):
            if isinstance(found.get(key), dict):
                visit(found[key])

    visit(schema)
    return collected, deferred
