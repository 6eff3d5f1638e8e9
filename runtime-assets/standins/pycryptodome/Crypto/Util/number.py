"""Numbers and bytes."""


def bytes_to_long(s):
    return int.from_bytes(s, "big")


def long_to_bytes(n, blocksize=0):
    if n < 0 or blocksize < 0:
        raise ValueError("Values must be non-negative")
    data = n.to_bytes(max(1, (n.bit_length() + 7) // 8), "big")
    return data.rjust(-(-len(data) // blocksize) * blocksize, b"\0") if blocksize else data


def size(N):
    if N < 0:
        raise ValueError("Size in bits only available for non-negative numbers")
    return N.bit_length()


def inverse(u, v):
    return pow(u, -1, v)


def GCD(x, y):
    import math

    return math.gcd(x, y)
