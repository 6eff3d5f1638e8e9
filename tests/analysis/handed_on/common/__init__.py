from .tree import find
