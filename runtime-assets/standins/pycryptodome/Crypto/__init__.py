"""A stand-in for pycryptodome: the parts that need no native code to be useful."""

version_info = (3, 24, "1")
__version__ = "3.24.1"
