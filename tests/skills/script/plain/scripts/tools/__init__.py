from .shout import shout
