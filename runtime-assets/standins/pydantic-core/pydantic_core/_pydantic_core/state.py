"""What a validation carries along, and the table of the kinds of schema."""

from . import known

EXACT, STRICT, LAX = 2, 1, 0


class State:
    """One validation: its settings, and what is known so far."""

    __slots__ = (
        "mode", "strict", "context", "from_attributes", "extra", "by_alias", "by_name", "self_instance", "data",
        "exactness", "fields_set_count", "active", "field_name", "failed",
    )

    def __init__(self, mode, strict=None, context=None, from_attributes=None, extra=None, by_alias=None, by_name=None):
        self.mode, self.strict, self.context = mode, strict, context
        self.from_attributes, self.extra, self.by_alias, self.by_name = from_attributes, extra, by_alias, by_name
        self.self_instance = self.data = self.field_name = self.fields_set_count = None
        self.exactness, self.failed = EXACT, False
        self.active = set()

    def strictly(self, own):
        return own if self.strict is None else self.strict

    def floor(self, exactness):
        if exactness < self.exactness:
            self.exactness = exactness


def check_text(value, state):
    """Where everything is a text, nothing else may stand for a value."""
    if state.mode == "strings" and not isinstance(value, (str, dict)):
        from .errors import fail

        raise fail("string_type", value)


class Build:
    """What a schema is built with: the configuration that holds here, and the definitions of the whole."""

    def __init__(self, config, definitions):
        self.config, self.definitions = config or {}, definitions

    def setting(self, schema, key, config_key=None, default=None):
        """A setting of the schema, else of the configuration."""
        value = schema.get(key)
        if value is None:
            value = self.config.get(config_key or key)
        return default if value is None else value

    def within(self, config):
        return self if config is None else Build(config, self.definitions)

    def make(self, schema):
        kind = schema["type"]
        known.check(schema, self.config)
        maker = KINDS.get(kind)
        if maker is None:
            raise NotImplementedError(
                f"not available in a skillcell cell: pydantic's schema '{kind}' has no stand-in for its native code"
            )
        return maker(schema, self)


KINDS = {}


def kind(*names):
    """Registers how a kind of schema becomes a function from (value, state) to the validated value."""

    def register(maker):
        for name in names:
            KINDS[name] = maker
        return maker

    return register


def named(function, name):
    function.name = name
    return function
