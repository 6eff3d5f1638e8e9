"""An array that knows its alphabet, for Biopython's substitution matrices."""

import numpy as np


class Array(np.ndarray):
    def __array_finalize__(self, other):
        if other is not None:
            self.__dict__["_alphabet"] = getattr(other, "_alphabet", None)

    @property
    def alphabet(self):
        return self.__dict__.get("_alphabet")

    @alphabet.setter
    def alphabet(self, value):
        if not isinstance(value, (str, tuple)):
            raise ValueError("alphabet should be a string or a tuple")
        self.__dict__["_alphabet"] = value
