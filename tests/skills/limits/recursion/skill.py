import ast
import copy
import functools
import json
import pickle
import re
import sys

from skillware.core.base_skill import BaseSkill

DEEP = 10**5


def nested(make=lambda inner: [inner], depth=DEEP):
    value = make(None)
    for _ in range(depth):
        value = make(value)
    return value


def chain(step):
    items = iter([1])
    for _ in range(DEEP):
        items = step(items)
    return list(items)


def function():
    return function()


def unlimited():
    sys.setrecursionlimit(10**9)
    function()


def generators():
    def through(items):
        yield from items

    chain(through)


class Endless:
    def __getattr__(self, name):
        return getattr(self, name + "x")

    def __repr__(self):
        return repr(self)

    def __eq__(self, other):
        return other == self

    def __hash__(self):
        return hash(self)

    def __call__(self):
        return self()

    def __lt__(self, other):
        return sorted([self, other]) and True

    def __getitem__(self, key):
        return self[key]


def without_limit(work):
    def run():
        sys.setrecursionlimit(10**9)
        return work()

    return run


def descriptor_loop():
    class Loop:
        @property
        def value(self):
            return self.value

    return Loop().value


def exceptions():
    error = None
    for _ in range(DEEP):
        fresh = ValueError()
        fresh.__cause__ = error
        error = fresh
    raise error


WAYS = {
    "function": function,
    "unlimited": unlimited,
    "attribute": without_limit(lambda: Endless().missing),
    "repr": without_limit(lambda: repr(Endless())),
    "equality": without_limit(lambda: Endless() == Endless()),
    "hash": without_limit(lambda: hash(Endless())),
    "call": without_limit(lambda: Endless()()),
    "sort": without_limit(lambda: sorted([Endless(), Endless()])),
    "item": without_limit(lambda: Endless()[0]),
    "property": without_limit(descriptor_loop),
    "json.loads": lambda: json.loads("[" * DEEP + "]" * DEEP),
    "json.dumps": lambda: json.dumps(nested()),
    "repr of lists": lambda: repr(nested()),
    "freeing lists": lambda: nested() and "freed",
    "freeing dicts": lambda: nested(lambda inner: {1: inner}) and "freed",
    "freeing tuples": lambda: nested(lambda inner: (inner,)) and "freed",
    "freeing partials": lambda: nested(lambda inner: functools.partial(print, inner)) and "freed",
    "comparing lists": lambda: nested() == nested(),
    "hashing tuples": lambda: hash(nested(lambda inner: (inner,))),
    "pickle.dumps": lambda: pickle.dumps(nested()),
    "pickle.loads": lambda: pickle.loads(b"(" * DEEP + b"l" * DEEP + b"."),
    "deepcopy": lambda: copy.deepcopy(nested()),
    "parentheses": lambda: eval("(" * DEEP + ")" * DEEP),
    "minus signs": lambda: eval("-" * DEEP + "1"),
    "attributes": lambda: ast.parse("a" + ".b" * DEEP),
    "sums": lambda: compile("+".join(["1"] * DEEP), "x", "eval"),
    "literals": lambda: ast.literal_eval("[" * 150 + "]" * 150),
    "strings in strings": lambda: eval(functools.reduce(lambda text, _: f"f'{{{text}}}'", range(200), "1")),
    "regex groups": lambda: re.compile("(" * DEEP + ")" * DEEP),
    "regex input": lambda: bool(re.match("(?:(a)|b)*?$", "ab" * DEEP)),
    "generators": generators,
    "maps": lambda: chain(lambda items: map(abs, items)),
    "zips": lambda: chain(lambda items: zip(items)),
    "causes": exceptions,
    "result": lambda: nested(),
    "types": lambda: isinstance(1, nested(lambda inner: (inner or str,))),
    "unions": lambda: functools.reduce(lambda one, other: other | one, [type(str(i), (), {}) for i in range(3000)]),
    "classes": lambda: nested(lambda inner: type("Deep", (inner or object,), {}), 300),
}


class Recursion(BaseSkill):
    manifest = {}

    def execute(self, params):
        if "way" not in params:
            return list(WAYS)
        result = WAYS[params["way"]]()
        return result if params["way"] == "result" else "survived"
