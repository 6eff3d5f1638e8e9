"""Regular expressions that the files of a folder have `re` compile: compiled while an image is made, so that a run finds them as it would in
a Python that ran the script before. Read from the text alone: those whose pattern and flags are written out."""

import ast
import contextlib
import itertools
import re
import time
import warnings

#: Bounds: how many (`re` keeps 256 at hand), how long each is, and after how many seconds no other is begun.
_MOST, _LONGEST, _SECONDS = 128, 1000, 1
#: Where a function of `re` takes its flags.
_FLAGS_AT = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2, "finditer": 2, "split": 3, "sub": 4, "subn": 4}


def compile_ahead(texts):
    soon = time.monotonic() + _SECONDS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(itertools.islice(_written_out(texts), _MOST))
        # One that Python warns of is left for the run, which is to be warned.
        warnings.simplefilter("error")
        for pattern, flags in found:
            if time.monotonic() > soon:
                break
            with contextlib.suppress(Exception):
                re.compile(pattern, flags)


def _written_out(texts):
    for text in texts:
        nodes = ()
        with contextlib.suppress(Exception):  # nested so deep that it can be compiled and no more
            nodes = ast.walk(ast.parse(text))
        for node in nodes:
            # What is written otherwise has none of these attributes.
            with contextlib.suppress(AttributeError, KeyError, IndexError):
                if node.func.value.id == "re":
                    pattern, flags = node.args[0].value, _flags(_flags_of(node))
                    if isinstance(pattern, (str, bytes)) and len(pattern) <= _LONGEST and not flags & re.DEBUG:
                        yield pattern, flags


def _flags_of(made):
    place = _FLAGS_AT[made.func.attr]
    named = [word.value for word in made.keywords if word.arg == "flags"]
    return (named or made.args[place:] or [None])[0]


def _flags(node):
    """`re.I | re.M`, and nothing else."""
    if node is None:
        return re.NOFLAG
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _flags(node.left) | _flags(node.right)
    return re.RegexFlag[node.attr]
