"""Exclusive or of byte strings."""


def strxor(term1, term2, output=None):
    if len(term1) != len(term2):
        raise ValueError("Only byte strings of equal length can be xored")
    result = bytes(a ^ b for a, b in zip(term1, term2))
    if output is None:
        return result
    output[:] = result


def strxor_c(term, c, output=None):
    return strxor(term, bytes([c]) * len(term), output)
