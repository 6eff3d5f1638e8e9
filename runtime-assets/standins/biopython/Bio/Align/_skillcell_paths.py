"""What both algorithms share: choosing among ties, and walking the paths that lead to the best score.

Matrices are filled along their anti-diagonals, whose cells depend only on the two before: numpy does one at a time.
"""

import sys

import numpy as np

# Beyond this the native module, which counts in 64 bits, raises OverflowError.
_COUNTABLE = 2**63 - 1


def best(candidates, epsilon):
    """For vectors of (score, bit): the best scores, and which bits have them, where near enough is equal.

    The first is beaten by what exceeds it by more than epsilon, as are those before it; the order matters.
    """
    (score, bit), *others = candidates
    trace = np.full(len(score), bit, dtype=np.uint8)
    for other, bit in others:
        better = other > score + epsilon
        equal = (other > score - epsilon) & ~better
        trace = np.where(better, np.uint8(bit), np.where(equal, trace | np.uint8(bit), trace))
        score = np.where(better, other, score)
    return score, trace


def diagonals(rows, columns):
    """The inner anti-diagonals: i + j, the first and the last i, and where they lie in a flattened matrix."""
    for k in range(2, rows + columns + 1):
        low, high = max(1, k - columns), min(rows, k - 1)
        yield k, low, high, slice(low * columns + k, high * columns + k + 1, columns)


def letters(k, low, high):
    """The letters that meet on an anti-diagonal: a slice of the first sequence, one of the second."""
    start, stop = k - low - 1, k - high - 2
    return slice(low - 1, high), slice(start, stop if stop >= 0 else None, -1)


class Paths:
    """Iterates over alignments, depth first in the order of the choices, as pairs of coordinates."""

    def __init__(self, ends, choices, count):
        self.ends = ends
        self.choices = choices
        self.count = count
        self.length = None
        self.reverse_query = None
        self.reset()

    def reset(self):
        self.walk = self._walk()

    def __iter__(self):
        return self

    def __next__(self):
        return self._coordinates(next(self.walk))

    def __len__(self):
        if self.length is None:
            self.length = self.count()
        if self.length > _COUNTABLE:
            raise OverflowError("number of optimal alignments is larger than %d" % _COUNTABLE)
        # A cell's Python can't return more from `len`.
        return min(self.length, sys.maxsize)

    def _walk(self):
        for end in self.ends():
            # Each step back: where it is, and the steps that are still to be tried from there.
            stack = [(end, iter(self.choices(end, True)))]
            while stack:
                step = next(stack[-1][1], None)
                if step is None:
                    stack.pop()
                elif step == "start":
                    yield [place[-2:] for place, _ in reversed(stack)]
                else:
                    stack.append((step, iter(self.choices(step, False))))

    def _coordinates(self, places):
        corners = [places[0]]
        before = None
        for (i, j), (x, y) in zip(places, places[1:]):
            direction = (x - i, y - j)
            if direction == before:
                corners[-1] = (x, y)
            else:
                corners.append((x, y))
            before = direction
        target = tuple(i for i, _ in corners)
        query = tuple(j for _, j in corners)
        if self.reverse_query is not None:
            query = tuple(self.reverse_query - j for j in query)
        return target, query


def total(exact, estimate):
    """A count in 64 bits that may have wrapped, and the same as a float: the count, or something uncountable."""
    return int(exact) if estimate < float(_COUNTABLE) else _COUNTABLE + 1
