"""cytoolz is toolz, compiled. Here it is toolz."""

import sys

import toolz
from toolz import *  # noqa: F403
from toolz import curried, dicttoolz, functoolz, itertoolz, recipes, utils

__version__ = "1.2.0"
__toolz_version__ = toolz.__version__

for _module in (curried, dicttoolz, functoolz, itertoolz, recipes, utils):
    sys.modules[_module.__name__.replace("toolz", __name__, 1)] = _module
