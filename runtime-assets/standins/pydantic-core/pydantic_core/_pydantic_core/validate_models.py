"""Models, typed dictionaries, dataclasses, and the arguments of calls."""

import collections.abc as abc

from .errors import Failure, Line, PydanticOmit, PydanticUseDefault, fail
from .lookup import lookup_of
from .state import STRICT, check_text, kind, named
from .values import ArgsKwargs, PydanticUndefined


class _Field:
    """One field of a model, a typed dictionary or a dataclass."""

    def __init__(self, name, schema, build):
        self.name = name
        self.validate = build.make(schema["schema"])
        self.lookup = lookup_of(schema.get("validation_alias"), name)
        self.frozen = schema.get("frozen", False)
        self.required = schema.get("required")
        self.init, self.init_only, self.kw_only = schema.get("init", True), schema.get("init_only", False), schema.get("kw_only", True)


class Fields:
    """What models, typed dictionaries and dataclasses share: their fields from a mapping or an object."""

    def __init__(self, schema, build, fields):
        self.fields = fields
        self.extra = build.setting(schema, "extra_behavior", "extra_fields_behavior", "ignore")
        self.extras = build.make(schema["extras_schema"]) if schema.get("extras_schema") else None
        self.extras_keys = build.make(schema["extras_keys_schema"]) if schema.get("extras_keys_schema") else None
        self.loc_by_alias = build.config.get("loc_by_alias", True)
        self.by_alias, self.by_name = build.config.get("validate_by_alias"), build.config.get("validate_by_name")

    def ways(self, state):
        by_alias = state.by_alias if state.by_alias is not None else self.by_alias
        by_name = state.by_name if state.by_name is not None else self.by_name
        return True if by_alias is None else by_alias, bool(by_name)

    def default(self, field, state):
        """The field's default, or None; its factory may look at the fields before it."""
        make = getattr(field.validate, "default", None)
        return make(state) if make else None

    def read(self, value, state, get, keys):
        """Fields and extras from `value`, and which fields were given. `get` looks a step up, `keys` are all there are."""
        by_alias, by_name = self.ways(state)
        found, given, lines, used = {}, set(), [], set()
        outer = state.data, state.field_name, state.failed
        for field in self.fields:
            state.data, state.field_name, state.failed = found, field.name, bool(lines)
            at, content = field.lookup.find(value, get, by_alias, by_name)
            if at is not None:
                used.add(at[0])
                try:
                    check_text(content, state)
                    found[field.name] = field.validate(content, state)
                    given.add(field.name)
                except PydanticOmit:
                    continue
                except PydanticUseDefault:
                    at = None
                except Failure as failure:
                    lines += failure.within(*(at if self.loc_by_alias else (field.name,))).lines
            if at is None:
                try:
                    default = self.default(field, state)
                except Failure as failure:
                    lines += failure.within(field.name).lines
                    continue
                if default is not None:
                    found[field.name] = default.value
                elif field.required is not False:
                    where = field.lookup.where(by_alias, by_name) if self.loc_by_alias else (field.name,)
                    lines.append(Line("missing", value, loc=where))
        state.data, state.field_name, state.failed = outer
        return found, self._extras(value, state, keys, used, given, lines), given, lines

    def _extras(self, value, state, keys, used, given, lines):
        behaviour = state.extra or self.extra
        if behaviour == "ignore" or keys is None:
            return {} if behaviour == "allow" else None
        extras = {}
        for key, content in keys:
            if key in used:
                continue
            if not isinstance(key, str):
                lines.append(Line("invalid_key", key, loc=(key if isinstance(key, int) else str(key),)))
            elif behaviour == "forbid":
                lines.append(Line("extra_forbidden", content, loc=(key,)))
            else:
                try:
                    name = self.extras_keys(key, state) if self.extras_keys else key
                    extras[name] = self.extras(content, state) if self.extras else content
                    given.add(name)
                except Failure as failure:
                    lines += failure.within(key).lines
        return extras if behaviour == "allow" else None


def _mapping(value, state, strict=False):
    """`get` and `keys` of a mapping, or None."""
    if isinstance(value, dict) or isinstance(value, abc.Mapping) and not strict:
        return (lambda found, step: found[step]), value.items()
    return None


@kind("model-fields")
def _model_fields(schema, build):
    fields = Fields(schema, build, [_Field(name, field, build) for name, field in schema["fields"].items()])
    by_name = {field.name: field for field in fields.fields}
    from_attributes = build.setting(schema, "from_attributes", default=False)
    model_name = schema.get("model_name", "Model")

    def validate(value, state):
        source = _mapping(value, state)
        if source is None:
            attributes = from_attributes if state.from_attributes is None else state.from_attributes
            if not attributes or state.mode != "python":
                raise fail("model_type", value, class_name=model_name)
            if isinstance(value, (str, bytes, int, float, list, tuple, set, type(None))):
                raise fail("model_attributes_type", value)
            source = _attribute, None
            if state.extra == "allow" or fields.extra == "allow":
                source = _attribute, [(k, v) for k, v in getattr(value, "__dict__", {}).items() if k[:1] != "_"]
        found, extras, given, lines = fields.read(value, state, *source)
        if lines:
            raise Failure(lines)
        state.fields_set_count = (state.fields_set_count or 0) + len(given)
        return found, extras, given

    def assign(data, name, value, state):
        """(fields, extras, given) after a field of the dictionary `data` is set."""
        field = by_name.get(name)
        known = {key: content for key, content in data.items() if key in by_name}
        extras = {key: content for key, content in data.items() if key not in by_name}
        outer, state.data, state.field_name = state.data, {k: v for k, v in known.items() if k != name}, name
        try:
            if field is not None:
                if field.frozen:
                    raise fail("frozen_field", value).within(name)
                known[name] = _at(name, field.validate, value, state)
            elif fields.extra == "allow":
                extras[name] = _at(name, fields.extras, value, state) if fields.extras else value
            else:
                raise fail("no_such_attribute", value, attribute=name).within(name)
        finally:
            state.data = outer
        return known, extras if fields.extra == "allow" else None, {name}

    validate.assign_to = assign
    validate.fields = fields
    return named(validate, "model-fields")


def _at(name, validate, value, state):
    try:
        return validate(value, state)
    except Failure as failure:
        raise failure.within(name) from None


def _attribute(found, step):
    if isinstance(found, (dict, list)) or not isinstance(step, str):
        return found[step]
    try:
        return getattr(found, step)
    except AttributeError:
        raise KeyError(step) from None


@kind("model")
def _model(schema, build):
    cls = schema["cls"]
    build = build.within(schema.get("config"))
    inner = build.make(schema["schema"])
    revalidate = build.setting(schema, "revalidate_instances", default="never")
    root, custom_init, post_init = schema.get("root_model", False), schema.get("custom_init", False), schema.get("post_init")
    frozen = build.setting(schema, "frozen", default=False)

    def fill(instance, value, state):
        if root:
            content, given = inner(value, state), set() if value is PydanticUndefined else {"root"}
            found, extras = {"root": content}, None
        else:
            found, extras, given = inner(value, state)
        object.__setattr__(instance, "__dict__", found)
        object.__setattr__(instance, "__pydantic_extra__", extras)
        object.__setattr__(instance, "__pydantic_fields_set__", given)
        if not hasattr(instance, "__pydantic_private__"):
            object.__setattr__(instance, "__pydantic_private__", None)
        if post_init:
            _post_init(instance, value, state)
        return instance

    def _post_init(instance, value, state):
        from .validate_composite import raised

        try:
            getattr(instance, post_init)(state.context)
        except (ValueError, AssertionError) as problem:
            raise raised(problem, value) from problem

    def validate(value, state):
        instance, state.self_instance = state.self_instance, None
        if instance is not None:
            return fill(instance, value, state)
        if isinstance(value, cls):
            exact = type(value) is cls
            if not exact:
                state.floor(STRICT)
            if revalidate == "always" or revalidate == "subclass-instances" and not exact:
                return _again(value, state)
            return value
        if custom_init and isinstance(value, dict):
            try:
                return cls(**value)
            except ValueError as problem:
                from .validate_composite import raised

                raise raised(problem, value) from problem
        return fill(object.__new__(cls), value, state)

    def _again(value, state):
        if root:
            return fill(object.__new__(cls), value.root, state)
        content = {**value.__dict__, **(value.__pydantic_extra__ or {})}
        given = set(value.__pydantic_fields_set__)
        ways, state.by_name = state.by_name, True
        try:
            made = fill(object.__new__(cls), content, state)
        finally:
            state.by_name = ways
        object.__setattr__(made, "__pydantic_fields_set__", given)
        return made

    def assign(instance, name, value, state):
        if frozen:
            raise fail("frozen_instance", value).within(name)
        if root:
            if name != "root":
                raise fail("no_such_attribute", value, attribute=name).within(name)
            found, extras, given = {"root": inner(value, state)}, None, {"root"}
        else:
            # With the new value: a validator that comes before sees it so.
            data = {**instance.__dict__, **(instance.__pydantic_extra__ or {}), name: value}
            found, extras, given = inner.assign_to(data, name, value, state)
        object.__setattr__(instance, "__dict__", found)
        object.__setattr__(instance, "__pydantic_extra__", extras)
        object.__setattr__(instance, "__pydantic_fields_set__", instance.__pydantic_fields_set__ | given)
        return instance

    validate.assign_to = assign
    return named(validate, cls.__name__)


@kind("typed-dict")
def _typed_dict(schema, build):
    build = build.within(schema.get("config"))
    total = build.setting(schema, "total", "typed_dict_total", True)
    fields = [_Field(name, field, build) for name, field in schema["fields"].items()]
    for field in fields:
        if field.required is None:
            field.required = total
    fields = Fields(schema, build, fields)
    strict = build.setting(schema, "strict", default=False)

    def validate(value, state):
        source = _mapping(value, state, state.strictly(strict))
        if source is None:
            raise fail("dict_type", value)
        found, extras, given, lines = fields.read(value, state, *source)
        if lines:
            raise Failure(lines)
        state.fields_set_count = (state.fields_set_count or 0) + len(given)
        return {**found, **(extras or {})}

    return named(validate, schema.get("cls_name") or getattr(schema.get("cls"), "__name__", "typed-dict"))


@kind("dataclass-args")
def _dataclass_args(schema, build):
    members = [_Field(field["name"], field, build) for field in schema["fields"]]
    for member in members:
        member.required = True
    fields = Fields(schema, build, [member for member in members if member.init])
    positional = [member for member in members if member.init and not member.kw_only]
    collect = schema.get("collect_init_only", False)

    def validate(value, state):
        lines = []
        if isinstance(value, ArgsKwargs):
            given = dict(value.kwargs or {})
            for index, content in enumerate(value.args):
                if index >= len(positional):
                    lines.append(Line("unexpected_positional_argument", content, loc=(index,)))
                elif positional[index].name in given:
                    lines.append(Line("multiple_argument_values", given[positional[index].name], loc=(positional[index].name,)))
                else:
                    given[positional[index].name] = content
            by_name, state.by_name = state.by_name, True if value.args else state.by_name
        elif isinstance(value, (dict, abc.Mapping)):
            given, by_name = value, state.by_name
        else:
            raise fail("dataclass_type", value, class_name=schema["dataclass_name"])
        try:
            found, extras, _, more = fields.read(given, state, *_mapping(given, state))
        finally:
            state.by_name = by_name
        order = {member.name: index for index, member in enumerate(positional[: len(value.args)])} if isinstance(value, ArgsKwargs) else {}
        lines = [_as_argument(line, value, order) for line in more] + lines
        if lines:
            raise Failure(lines)
        for member in members:
            if not member.init and (default := fields.default(member, state)) is not None:
                found[member.name] = default.value
        init_only = tuple(found.pop(member.name) for member in members if member.init_only) if collect else None
        return {**found, **{name: content for name, content in (extras or {}).items() if name not in found}}, init_only

    known = {member.name: member for member in members}

    def assign(data, name, value, state):
        """The fields and nothing, after one of the dictionary `data` is set."""
        member = known.get(name)
        if member is None and fields.extra != "allow":
            raise fail("no_such_attribute", value, attribute=name).within(name)
        if member is not None and member.frozen:
            raise fail("frozen_field", value).within(name)
        outer, state.data, state.field_name = state.data, {k: v for k, v in data.items() if k != name}, name
        try:
            check = member.validate if member is not None else fields.extras
            return {**data, name: _at(name, check, value, state) if check else value}, None
        finally:
            state.data = outer

    validate.assign_to = assign
    return named(validate, f"dataclass-args[{','.join(member.name for member in members)}]")


def _as_argument(line, value, order=()):
    if line.loc and line.loc[0] in order:
        line = Line(line.kind, line.input, line.ctx, (order[line.loc[0]], *line.loc[1:]), line.custom)
    if len(line.loc) == 1 and line.kind == "extra_forbidden":
        return Line("unexpected_keyword_argument", line.input, None, line.loc)
    if len(line.loc) == 1 and line.kind == "missing":
        return Line("missing", value, None, line.loc)
    return line


@kind("dataclass")
def _dataclass(schema, build):
    cls = schema["cls"]
    build = build.within(schema.get("config"))
    inner = build.make(schema["schema"])
    post_init = schema.get("post_init", False)
    revalidate = build.setting(schema, "revalidate_instances", default="never")
    strict = build.setting(schema, "strict", default=False)
    frozen = build.setting(schema, "frozen", default=False)

    def fill(instance, value, state):
        found, init_only = inner(value, state)
        for name, content in found.items():
            object.__setattr__(instance, name, content)
        if post_init:
            from .validate_composite import raised

            try:
                instance.__post_init__(*(init_only or ()))
            except (ValueError, AssertionError) as problem:
                raise raised(problem, value) from problem
        return instance

    def validate(value, state):
        instance, state.self_instance = state.self_instance, None
        if instance is not None:
            return fill(instance, value, state)
        if isinstance(value, cls):
            if revalidate == "always" or revalidate == "subclass-instances" and type(value) is not cls:
                return fill(object.__new__(cls), dict(vars(value)), state)
            return value
        if state.strictly(strict) and state.mode == "python":
            raise fail("dataclass_exact_type", value, class_name=cls.__name__)
        return fill(object.__new__(cls), value, state)

    def assign(instance, name, value, state):
        if frozen:
            raise fail("frozen_instance", value).within(name)
        known = schema["fields"] if schema.get("slots") else vars(instance)
        data = {field: getattr(instance, field) for field in known if hasattr(instance, field)}
        found, _ = inner.assign_to(data, name, value, state)
        if schema.get("slots"):
            object.__setattr__(instance, name, found[name])
        else:
            object.__setattr__(instance, "__dict__", found)
        return instance

    validate.assign_to = assign
    return named(validate, cls.__name__)


@kind("arguments")
def _arguments(schema, build):
    parameters = []
    for parameter in schema["arguments_schema"]:
        validate = build.make(parameter["schema"])
        lookup = lookup_of(parameter.get("alias"), parameter["name"])
        parameters.append((parameter["name"], parameter.get("mode", "positional_or_keyword"), validate, lookup))
    var_args = build.make(schema["var_args_schema"]) if "var_args_schema" in schema else None
    var_kwargs = build.make(schema["var_kwargs_schema"]) if "var_kwargs_schema" in schema else None
    unpacked = schema.get("var_kwargs_mode") == "unpacked-typed-dict"
    by_name = build.setting(schema, "validate_by_name", default=False)

    def validate(value, state):
        args, kwargs = _call(value)
        lines, positional, keywords, used = [], [], {}, set()
        for index, (name, mode, check, lookup) in enumerate(parameters):
            by_position = mode != "keyword_only" and index < len(args)
            at, content = None, None
            if mode != "positional_only":
                at, content = lookup.find(kwargs, lambda found, step: found[step], True, by_name)
            if at is not None:
                used.add(at[0])
            if by_position and at is not None:
                lines.append(Line("multiple_argument_values", content, loc=(name,)))
                continue
            try:
                if by_position:
                    positional.append(check(args[index], state))
                elif at is not None:
                    keywords[name] = check(content, state)
                elif (default := check.default(state) if hasattr(check, "default") else None) is not None:
                    if mode == "keyword_only" or keywords:
                        keywords[name] = default.value
                    else:
                        positional.append(default.value)
                else:
                    error = {"positional_only": "missing_positional_only_argument", "keyword_only": "missing_keyword_only_argument"}
                    where = index if mode == "positional_only" else name
                    lines.append(Line(error.get(mode, "missing_argument"), value, loc=(where,)))
            except Failure as failure:
                lines += failure.within(index if by_position else name).lines
        room = sum(mode != "keyword_only" for _, mode, _, _ in parameters)
        for index, content in enumerate(args[room:], room):
            if var_args is None:
                lines.append(Line("unexpected_positional_argument", content, loc=(index,)))
            else:
                try:
                    positional.append(var_args(content, state))
                except Failure as failure:
                    lines += failure.within(index).lines
        rest = {name: content for name, content in kwargs.items() if name not in used}
        if unpacked and var_kwargs is not None:
            try:
                keywords.update(var_kwargs(rest, state))
            except Failure as failure:
                lines += failure.lines
            rest = {}
        for name, content in rest.items():
            if var_kwargs is None:
                lines.append(Line("unexpected_keyword_argument", content, loc=(name,)))
            else:
                try:
                    keywords[name] = var_kwargs(content, state)
                except Failure as failure:
                    lines += failure.within(name).lines
        if lines:
            raise Failure(lines)
        return tuple(positional), keywords

    return named(validate, "arguments")


def _call(value):
    if isinstance(value, ArgsKwargs):
        return value.args, value.kwargs or {}
    if isinstance(value, dict):
        return (), value
    if isinstance(value, (list, tuple)):
        return tuple(value), {}
    raise fail("arguments_type", value)


@kind("call")
def _call_schema(schema, build):
    arguments = build.make(schema["arguments_schema"])
    function = schema["function"]
    result_of = build.make(schema["return_schema"]) if "return_schema" in schema else None
    named_tuple = hasattr(function, "_fields")

    def validate(value, state):
        if named_tuple and isinstance(value, function):
            value = tuple(value)
        args, kwargs = arguments(value, state)
        result = function(*args, **kwargs)
        if result_of is None:
            return result
        try:
            return result_of(result, state)
        except Failure as failure:
            raise failure.within("return") from None

    return named(validate, "call")


@kind("named-tuple")
def _named_tuple(schema, build):
    cls = schema["cls"]
    fields = schema["fields"]
    members = [_Field(field["name"], field, build) for field in (fields if isinstance(fields, list) else [{**f, "name": n} for n, f in fields.items()])]
    for member in members:
        member.required = True
    reader = Fields({**schema, "extra_behavior": "forbid"}, build, members)

    def validate(value, state):
        if isinstance(value, ArgsKwargs):
            given = {**dict(zip((member.name for member in members), value.args)), **(value.kwargs or {})}
        elif isinstance(value, (list, tuple)):
            if len(value) > len(members):
                raise fail("unexpected_positional_argument", value[len(members)]).within(len(members))
            given = dict(zip((member.name for member in members), value))
        elif isinstance(value, (dict, abc.Mapping)):
            given = value
        else:
            raise fail("named_tuple_type", value, class_name=cls.__name__)
        found, _, _, lines = reader.read(given, state, *_mapping(given, state))
        if lines:
            raise Failure([_as_argument(line, value) for line in lines])
        return cls(**found)

    return named(validate, cls.__name__)
