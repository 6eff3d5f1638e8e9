import atexit
import warnings

atexit.register(print, "at the end")
print("\d")
