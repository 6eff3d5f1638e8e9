"""Small pieces of pure Python by kind of work, to compare how long they take in a cell and outside.

    python3 kernels.py decimal     the time in ms, and the result, which has to be the same everywhere
"""

import hashlib
import json
import re
import sys
import time
from decimal import Decimal, localcontext


def loops():
    total = 0
    for i in range(400_000):
        if i % 3:
            total += i & 7
    return total


def calls():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(25)


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def moved(self, by):
        return Point(self.x + by, self.y - by)


def objects():
    point = Point(0, 0)
    for by in range(60_000):
        point = point.moved(by)
    return point.x + point.y


def strings():
    words = [f"word{i:05d}" for i in range(20_000)]
    text = " ".join(words).upper().replace("WORD", "w")
    return sum(len(part.strip("0w")) for part in text.split())


DATA = {"rows": [{"id": i, "name": f"row {i}", "ok": i % 2 == 0, "tags": ["a", "b"]} for i in range(5_000)]}


def json_work():
    return len(json.dumps(json.loads(json.dumps(DATA))))


LOG = "\n".join(f"10.0.{i % 256}.{i % 7} - GET /path/{i} HTTP/1.1 {200 + i % 5}" for i in range(10_000))


def regular_expressions():
    found = re.findall(r"(\d+\.\d+\.\d+\.\d+) - (GET|POST) /(\w+)/(\d+) .*? (\d{3})", LOG)
    return sum(int(one[3]) for one in found)


def sha256():
    return hashlib.sha256(b"0123456789abcdef" * 250_000).hexdigest()


def pbkdf2():
    return hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 20_000).hex()


def sorting():
    numbers = [(i * 7919) % 100_003 for i in range(100_000)]
    return sorted(numbers, key=lambda n: -n)[500] + sorted(numbers)[500]


def dictionaries():
    counts = {}
    for i in range(200_000):
        key = (i * 31) % 1_009
        counts[key] = counts.get(key, 0) + 1
    return sum(counts.values()) + len(counts)


def floats():
    x, total = 0.5, 0.0
    for _ in range(300_000):
        x = 3.7 * x * (1.0 - x)
        total += x
    return total


def exceptions():
    caught = 0
    for i in range(60_000):
        try:
            raise ValueError(i)
        except ValueError:
            caught += 1
    return caught


def generators():
    def numbers(count):
        yield from range(count)

    return sum(x * 2 for x in (y + 1 for y in numbers(150_000)))


def integers():
    value, total = 1, 0
    for _ in range(50_000):
        value = (value * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        total += value >> 33
    return total


def large_integers():
    value = 3
    for _ in range(300):
        value = value * value % (2**2203 - 1) + 1
    return value % 1_000_003


def decimals():
    with localcontext() as context:
        context.prec = 40
        total = Decimal(0)
        for i in range(1, 15_000):
            total += Decimal(i) / Decimal(7)
        return str(total.sqrt())


KERNELS = {
    "loops": loops,
    "calls": calls,
    "objects": objects,
    "strings": strings,
    "json": json_work,
    "re": regular_expressions,
    "sort": sorting,
    "dict": dictionaries,
    "float": floats,
    "exceptions": exceptions,
    "generators": generators,
    "integers of 64 bits": integers,
    "integers of 2,200 bits": large_integers,
    "sha256": sha256,
    "pbkdf2": pbkdf2,
    "decimal": decimals,
}


def timed(kernel):
    started = time.perf_counter()
    result = KERNELS[kernel]()
    return {"ms": (time.perf_counter() - started) * 1e3, "result": result}


if __name__ == "__main__":
    timed(sys.argv[1])
    print(json.dumps(timed(sys.argv[1])))
