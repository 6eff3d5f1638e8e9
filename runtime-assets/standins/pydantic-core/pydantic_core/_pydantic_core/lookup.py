"""Where a field's value is found: under its name, an alias, or a path of aliases."""


class Lookup:
    """The ways to one field's value, in order."""

    def __init__(self, alias, name):
        self.name = name
        if alias is None:
            self.paths = None
        elif isinstance(alias, str):
            self.paths = [[alias]]
        else:
            self.paths = alias if isinstance(alias[0], list) else [alias]

    def ways(self, by_alias, by_name):
        if self.paths is None:
            return [[self.name]]
        ways = list(self.paths) if by_alias else []
        return ways + [[self.name]] if by_name or not by_alias else ways

    def where(self, by_alias, by_name):
        return tuple(self.ways(by_alias, by_name)[0])

    def find(self, value, get, by_alias, by_name):
        """The path at which there is a value, and the value; (None, None) if there is none."""
        for path in self.ways(by_alias, by_name):
            found = value
            try:
                for step in path:
                    if isinstance(found, (str, bytes)):
                        raise KeyError(step)
                    found = get(found, step)
            except (KeyError, IndexError, TypeError):
                continue
            return tuple(path), found
        return None, None


def lookup_of(alias, name):
    return Lookup(alias, name)
