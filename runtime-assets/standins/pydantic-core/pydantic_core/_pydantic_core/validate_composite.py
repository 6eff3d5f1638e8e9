"""Schemas around schemas: functions, defaults, unions, references."""

import copy

from .errors import Failure, Line, PydanticCustomError, PydanticKnownError, PydanticUseDefault, ValidationError, fail
from .state import EXACT, LAX, kind, named
from .values import PydanticUndefined, Some, ValidationInfo


def raised(problem, value):
    """What a validator function raised, as a failure; None if it is none."""
    if isinstance(problem, (PydanticCustomError, PydanticKnownError)):
        return Failure([problem.line(value)])
    if isinstance(problem, ValidationError):
        return Failure(list(problem._lines))
    if isinstance(problem, ValueError):
        return fail("value_error", value, error=problem)
    if isinstance(problem, AssertionError):
        return fail("assertion_error", value, error=problem)
    return None


def _caller(schema, build):
    """The function of a schema, called with an info if it wants one."""
    function = schema["function"]
    call, wants_info = function["function"], function["type"] == "with-info"
    own_name, config = function.get("field_name") or schema.get("field_name"), build.config

    def run(state, value, *more, given=PydanticUndefined):
        if wants_info:
            field_name = own_name or state.field_name
            more = (*more, ValidationInfo(state, config, field_name, state.data))
        try:
            return call(value, *more)
        except (ValueError, AssertionError) as problem:
            failure = raised(problem, value if given is PydanticUndefined else given)
            failure.__cause__ = problem
            raise failure from problem

    return run, getattr(call, "__qualname__", None) or repr(call)


@kind("function-before")
def _before(schema, build):
    run, shown = _caller(schema, build)
    inner = build.make(schema["schema"])

    def validate(value, state):
        return inner(run(state, value), state)

    def assign(instance, name, value, state):
        return inner.assign_to(run(state, instance), name, value, state)

    return _inherit(named(validate, f"function-before[{shown}(), {inner.name}]"), inner, assign)


@kind("function-after")
def _after(schema, build):
    run, shown = _caller(schema, build)
    inner = build.make(schema["schema"])

    def validate(value, state):
        field_name, data = state.field_name, state.data
        result = inner(value, state)
        state.field_name, state.data = field_name, data
        return run(state, result, given=value)

    def assign(instance, name, value, state):
        field_name, data = state.field_name, state.data
        result = inner.assign_to(instance, name, value, state)
        state.field_name, state.data = field_name, data
        return run(state, result, given=instance)

    return _inherit(named(validate, f"function-after[{shown}(), {inner.name}]"), inner, assign)


@kind("function-plain")
def _plain(schema, build):
    run, shown = _caller(schema, build)

    def validate(value, state):
        state.floor(LAX)
        return run(state, value)

    return named(validate, f"function-plain[{shown}()]")


@kind("function-wrap")
def _wrap(schema, build):
    run, shown = _caller(schema, build)
    inner = build.make(schema["schema"])

    def validate(value, state):
        field_name, data, instance = state.field_name, state.data, state.self_instance

        def handler(given, outer_location=None, /):
            state.self_instance = instance
            try:
                return inner(given, state)
            except Failure as failure:
                from .validator import error_of

                if outer_location is not None:
                    failure = failure.within(outer_location)
                raise error_of(failure, inner.name, state) from None
            finally:
                state.field_name, state.data = field_name, data

        return run(state, value, handler)

    def assign(instance, name, value, state):
        def handler(given, outer_location=None, /):
            try:
                return inner.assign_to(given, name, value, state)
            except Failure as failure:
                from .validator import error_of

                raise error_of(failure, inner.name, state) from None

        return run(state, instance, handler)

    return _inherit(named(validate, f"function-wrap[{shown}()]"), inner, assign)


def _inherit(outer, inner, assign):
    """What models and fields look for on the validator that they hold."""
    if hasattr(inner, "assign_to"):
        outer.assign_to = assign
    for name in ("default", "fields"):
        if hasattr(inner, name):
            setattr(outer, name, getattr(inner, name))
    return outer


@kind("default")
def _default(schema, build):
    inner = build.make(schema["schema"])
    given, factory = schema.get("default", PydanticUndefined), schema.get("default_factory")
    takes_data = schema.get("default_factory_takes_data", False)
    on_error = schema.get("on_error", "raise")
    validate_default = build.setting(schema, "validate_default", default=False)
    has_default = "default" in schema or factory is not None
    try:
        hash(given)
        must_copy = False
    except TypeError:
        must_copy = True

    def default(state):
        if not has_default:
            return None
        if factory is None:
            value = copy.deepcopy(given) if must_copy else given
        elif takes_data:
            if state.data is None or state.failed:
                raise fail("default_factory_not_called", PydanticUndefined)
            value = factory(state.data)
        else:
            value = factory()
        return Some(inner(value, state) if validate_default else value)

    def validate(value, state):
        if value is PydanticUndefined and has_default:
            return default(state).value
        try:
            return inner(value, state)
        except PydanticUseDefault:
            found = default(state)
            if found is None:
                raise
            return found.value
        except Failure:
            if on_error == "default":
                return default(state).value
            if on_error == "omit":
                from .errors import PydanticOmit

                raise PydanticOmit() from None
            raise

    validate.default = default
    validate.inner = inner
    return named(validate, f"default[{inner.name}]")


@kind("nullable")
def _nullable(schema, build):
    inner = build.make(schema["schema"])

    def validate(value, state):
        return None if value is None else inner(value, state)

    return named(validate, f"nullable[{inner.name}]")


@kind("union")
def _union(schema, build):
    choices = []
    for choice in schema["choices"]:
        choice, label = choice if isinstance(choice, tuple) else (choice, None)
        made = build.make(choice)
        choices.append((made, label or made.name))
    smart = schema.get("mode", "smart") == "smart"
    strict = build.setting(schema, "strict", default=False)
    error_kind, error_text, error_ctx = (schema.get(f"custom_error_{part}") for part in ("type", "message", "context"))

    def validate(value, state):
        lines, best = [], None
        exactness, counted = state.exactness, state.fields_set_count
        own_strict = state.strict
        if strict and state.strict is None:
            state.strict = True
        instance = state.self_instance
        try:
            for position, (choice, label) in enumerate(choices):
                state.exactness, state.fields_set_count, state.self_instance = EXACT, None, instance
                try:
                    result = choice(value, state)
                except Failure as failure:
                    lines += failure.within(label).lines
                    continue
                found, count = state.exactness, state.fields_set_count
                if not smart or found == EXACT and count is None:
                    best = (result, found, count)
                    break
                rank = (count if count is not None else -1, found)
                if best is None or rank > best[3]:
                    best = (result, found, count, rank)
        finally:
            state.strict = own_strict
        if best is not None:
            state.exactness, state.fields_set_count = min(exactness, best[1]), best[2]
            return best[0]
        state.exactness, state.fields_set_count = exactness, counted
        if error_kind:
            raise Failure([_custom(error_kind, error_text, error_ctx, value)])
        raise Failure(lines)

    return named(validate, f"union[{','.join(choice.name for choice, _ in choices)}]")


def _custom(error_kind, text, ctx, value):
    if text is None:
        return Line(error_kind, value, ctx)
    return PydanticCustomError(error_kind, text, ctx).line(value)


@kind("tagged-union")
def _tagged_union(schema, build):
    choices = {tag: build.make(choice) for tag, choice in schema["choices"].items()}
    discriminator = schema["discriminator"]
    shown = f"{discriminator.__name__}()" if callable(discriminator) else _shown(discriminator)
    from_attributes = build.setting(schema, "from_attributes", default=True)
    error_kind, error_text, error_ctx = (schema.get(f"custom_error_{part}") for part in ("type", "message", "context"))

    def tag_of(value, state):
        if callable(discriminator):
            return discriminator(value)
        paths = [[discriminator]] if isinstance(discriminator, str) else discriminator
        paths = paths if isinstance(paths[0], list) else [paths]
        for path in paths:
            found = value
            for step in path:
                try:
                    found = found[step] if isinstance(found, (dict, list)) else getattr(found, step) if from_attributes else None
                except (KeyError, IndexError, AttributeError, TypeError):
                    found = None
                if found is None:
                    break
            if found is not None:
                return found
        return None

    def validate(value, state):
        tag = tag_of(value, state)
        if tag is None:
            if not callable(discriminator) and not isinstance(value, dict) and not hasattr(value, "__dict__"):
                raise fail("model_attributes_type", value)
            if error_kind:
                raise Failure([_custom(error_kind, error_text, error_ctx, value)])
            raise fail("union_tag_not_found", value, discriminator=shown)
        tag = getattr(tag, "value", tag) if tag not in choices else tag
        choice = choices.get(tag)
        if choice is None:
            if error_kind:
                raise Failure([_custom(error_kind, error_text, error_ctx, value)])
            expected = ", ".join(repr(getattr(known, "value", known)) for known in choices)
            raise fail("union_tag_invalid", value, discriminator=shown, tag=str(tag), expected_tags=expected)
        try:
            return choice(value, state)
        except Failure as failure:
            raise failure.within(tag) from None

    return named(validate, f"tagged-union[{','.join(choice.name for choice in choices.values())}]")


def _shown(discriminator):
    if isinstance(discriminator, str):
        return repr(discriminator)
    paths = discriminator if isinstance(discriminator[0], list) else [discriminator]
    return " | ".join(".".join(repr(step) if isinstance(step, str) else str(step) for step in path) for path in paths)


@kind("chain")
def _chain(schema, build):
    steps = [build.make(step) for step in schema["steps"]]

    def validate(value, state):
        mode = state.mode
        try:
            for step in steps:
                value = step(value, state)
                # What comes out of a step is Python, whatever went in.
                state.mode = "python"
        finally:
            state.mode = mode
        return value

    return named(validate, f"chain[{','.join(step.name for step in steps)}]")


@kind("lax-or-strict")
def _lax_or_strict(schema, build):
    lax, strictly = build.make(schema["lax_schema"]), build.make(schema["strict_schema"])
    own = build.setting(schema, "strict", default=False)

    def validate(value, state):
        if state.strictly(own):
            return strictly(value, state)
        # Something that even the strict one takes is no conversion.
        exactness = state.exactness
        try:
            return strictly(value, state)
        except Failure:
            state.exactness = exactness
        state.floor(LAX)
        return lax(value, state)

    return named(validate, f"lax-or-strict[lax={lax.name},strict={strictly.name}]")


@kind("json-or-python")
def _json_or_python(schema, build):
    json, python = build.make(schema["json_schema"]), build.make(schema["python_schema"])

    def validate(value, state):
        return (python if state.mode == "python" else json)(value, state)

    return named(validate, f"json-or-python[json={json.name},python={python.name}]")


@kind("custom-error")
def _custom_error(schema, build):
    inner = build.make(schema["schema"])

    def validate(value, state):
        try:
            return inner(value, state)
        except Failure:
            line = _custom(schema["custom_error_type"], schema.get("custom_error_message"), schema.get("custom_error_context"), value)
            raise Failure([line]) from None

    return named(validate, "custom-error")


@kind("json")
def _json_schema(schema, build):
    inner = build.make(schema["schema"]) if "schema" in schema else None

    def validate(value, state):
        if not isinstance(value, (str, bytes, bytearray)):
            raise fail("json_type", value)
        from .validator import from_json

        try:
            found = from_json(value)
        except ValueError as problem:
            raise fail("json_invalid", value, error=str(problem)) from None
        if inner is None:
            return found
        mode, state.mode = state.mode, "json"
        try:
            return inner(found, state)
        finally:
            state.mode = mode

    return named(validate, f"json[{inner.name if inner else 'any'}]")


@kind("definitions")
def _definitions(schema, build):
    for definition in schema["definitions"]:
        build.definitions.setdefault(definition["ref"], None)
    for definition in schema["definitions"]:
        build.definitions[definition["ref"]] = build.make(definition)
    return build.make(schema["schema"])


@kind("definition-ref")
def _reference(schema, build):
    ref, definitions = schema["schema_ref"], build.definitions

    def validate(value, state):
        # A value that holds itself would go on for ever.
        key = (ref, id(value))
        if key in state.active:
            raise fail("recursion_loop", value)
        if len(state.active) > 255:
            raise fail("recursion_depth_exceeded", value)
        state.active.add(key)
        try:
            return definitions[ref](value, state)
        finally:
            state.active.discard(key)

    def assign(instance, name, value, state):
        return definitions[ref].assign_to(instance, name, value, state)

    validate.assign_to = assign

    return named(validate, ref.split(":")[0].rsplit(".", 1)[-1])
