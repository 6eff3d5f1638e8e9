"""Calls to warm a skill's image by: those that its author gives, those that its tests made, and some made from its schema."""

import json

#: As many calls, and as long.
_MOST, _LONGEST = 8, 64 << 10
_SAMPLES = {"string": "Please help me with this example text.", "integer": 1, "number": 1.0, "boolean": False, "array": [], "object": {}, "null": None}
_DEEPEST = 6
#: Taken before any skill could put something else in its place.
_dumps = json.dumps


def calls(given, manifest, recorded):
    """JSON texts, the author's first. `given` are params from the operator, or None; `recorded` what tests called with."""
    found = [given] if given is not None else []
    if isinstance(manifest, dict):
        found += [manifest["warm_up"]] if isinstance(manifest.get("warm_up"), dict) else []
        found += _examples(manifest)
    found += _spread(recorded)
    if isinstance(manifest, dict):
        found += _from_schema(manifest.get("parameters"))
    texts = dict.fromkeys(filter(None, map(_text, found)))
    return [text for text in texts if len(text) <= _LONGEST][:_MOST]


def _text(params):
    try:
        return _dumps(params, allow_nan=False) if isinstance(params, dict) else None
    except (TypeError, ValueError):
        return None


def _spread(recorded, most=5):
    """Some from all over: a test's calls are like each other."""
    step = max(len(recorded) / most, 1)
    return [recorded[int(place * step)] for place in range(most) if int(place * step) < len(recorded)]


def _examples(manifest):
    """What stands under `examples`, in the manifest and in its schema: params, or an object that has them."""
    schema = manifest.get("parameters")
    listed = [manifest.get("examples"), schema.get("examples") if isinstance(schema, dict) else None]
    for examples in listed:
        for example in examples if isinstance(examples, list) else ():
            if isinstance(example, dict):
                inner = next((example[key] for key in ("params", "parameters", "input") if isinstance(example.get(key), dict)), None)
                yield example if inner is None else inner


def _from_schema(schema):
    """The least that the schema asks for, and all that it knows."""
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        return []
    required = schema.get("required")
    required = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    properties = schema["properties"]
    least = {name: _value(properties.get(name), 0) for name in required}
    return [least | {name: _value(properties[name], 0) for name in properties}, least]


def _value(schema, depth):
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return "text"
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    if "example" in schema:
        return schema["example"]
    for key in ("oneOf", "anyOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return _value(schema[key][0], depth + 1)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" and isinstance(schema.get("properties"), dict):
        return {name: _value(item, depth + 1) for name, item in schema["properties"].items()}
    if kind == "array":
        return [_value(schema.get("items"), depth + 1)]
    if kind in ("integer", "number") and isinstance(schema.get("minimum"), (int, float)):
        return schema["minimum"]
    return _SAMPLES.get(kind, "text") if isinstance(kind, str) else "text"
