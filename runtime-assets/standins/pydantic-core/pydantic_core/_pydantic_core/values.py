"""Small values that pydantic and this package hand to each other."""


class PydanticUndefinedType:
    """The type of `PydanticUndefined`: nothing was given."""

    _one = None

    def __new__(cls):
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one

    def __repr__(self):
        return "PydanticUndefined"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return "PydanticUndefined"


PydanticUndefined = PydanticUndefinedType()


class Some:
    """A value that is there, even if it is None."""

    __match_args__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __class_getitem__(cls, item):
        return cls

    def __repr__(self):
        return f"Some({self.value!r})"


class ArgsKwargs:
    """The arguments of a call."""

    def __init__(self, args, kwargs=None):
        self.args, self.kwargs = args, kwargs or None

    def __eq__(self, other):
        return isinstance(other, ArgsKwargs) and (self.args, self.kwargs) == (other.args, other.kwargs)

    def __repr__(self):
        return f"ArgsKwargs({self.args!r}{f', {self.kwargs!r}' if self.kwargs else ''})"


class ValidationInfo:
    """What a validator function is told besides the value."""

    def __init__(self, state, config, field_name, data):
        self.context, self.mode = state.context, state.mode
        self.config, self.field_name, self.data = config, field_name, data

    def __repr__(self):
        return f"ValidationInfo(config={self.config!r}, context={self.context!r}, data={self.data!r}, field_name={self.field_name!r})"
