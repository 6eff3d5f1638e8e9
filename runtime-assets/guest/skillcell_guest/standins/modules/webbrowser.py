"""Stands for the standard module where the runtime's own would ask JavaScript for a window. As on a machine without a browser,
nothing is opened: `open` says False, `get` raises. What a program registers itself is used."""

__all__ = ["Error", "get", "open", "open_new", "open_new_tab", "register"]

_registered = {}


class Error(Exception):
    pass


def register(name, klass, instance=None, *, preferred=False):
    _registered[name.lower()] = (klass, instance, preferred)


def get(using=None):
    names = [using.lower()] if using else sorted(_registered, key=lambda name: not _registered[name][2])
    for klass, instance, _ in (_registered[name] for name in names if name in _registered):
        if instance is not None or klass is not None:
            return instance if instance is not None else klass()
    raise Error("could not locate runnable browser")


def open(url, new=0, autoraise=True):
    return bool(_registered) and bool(get().open(url, new, autoraise))


def open_new(url):
    return open(url, 1)


def open_new_tab(url):
    return open(url, 2)
