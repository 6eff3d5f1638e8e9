"""The one wording for what a cell does not offer."""

import errno


def text(what, why):
    return f"not available in a skillcell cell: {what}; {why}"


def error(what, why, kind=OSError, number=errno.ENOTSUP):
    return kind(number, text(what, why))


def refusing(name, what, why):
    """A function that only raises."""

    def refuse(*args, **kwargs):
        raise error(f"{what} (`{name}`)", why)

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    return refuse
