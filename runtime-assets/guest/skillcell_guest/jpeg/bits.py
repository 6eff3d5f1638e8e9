"""What reading a scan needs: its bits at every position, and Huffman codes as tables of 16 bits.

A Python loop over the codes of a picture must do as little as possible for each. So `Window` holds, for each bit of a
stretch of data, the sixteen that begin there, and a table says for any sixteen what they begin with. The loop only finds
where codes are; numpy does the rest for all of them (`scan`).
"""

import array
import functools

import numpy

#: How much data is made ready at once, and how much more than any unit of it can take.
_STRETCH, _MARGIN = 1 << 15, 1 << 12
#: Between segments, so that one that is damaged ends in zeros.
_GAP = bytes(64)


class Window:
    """All of a scan's segments, one after the other, of which a stretch can be looked at. Positions are in bits."""

    def __init__(self, segments):
        self._data = _GAP.join(segments) + bytes(2 * _MARGIN)
        #: Where each segment begins and ends.
        self.segments, at = [], 0
        for segment in segments:
            self.segments.append((at * 8, (at + len(segment)) * 8))
            at += len(segment) + len(_GAP)
        self.move(0)

    def move(self, position):
        """Looks from `position` on. What was known by a position in the stretch is `base` less now."""
        start = position >> 3
        data = numpy.frombuffer(self._data[start : start + _STRETCH + _MARGIN] + bytes(8), numpy.uint8)
        data = data.astype(numpy.uint32)
        three = data[:-2] << 16 | data[1:-1] << 8 | data[2:]
        sixteen = numpy.empty((len(three), 8), numpy.uint16)
        for shift in range(8):
            sixteen[:, shift] = three >> (8 - shift)
        self.base, self.limit = start * 8, (start + _STRETCH) * 8
        self.sixteen = sixteen.reshape(-1)
        self.looked_up = array.array("H", self.sixteen.tobytes())


@functools.lru_cache(16)
def lengths_and_symbols(code):
    """Two arrays by sixteen bits. Where they begin with no word of the code, libjpeg takes 17 bits, and zero."""
    lengths, symbols = numpy.full(1 << 16, 17, numpy.uint8), numpy.zeros(1 << 16, numpy.uint8)
    for symbol, word, length in code.words():
        first, end = word << (16 - length), (word + 1) << (16 - length)
        lengths[first:end], symbols[first:end] = length, symbol
    return lengths, symbols


def _steps(code, otherwise, step):
    """A list by sixteen bits."""
    steps = [otherwise] * (1 << 16)
    for symbol, word, length in code.words():
        first, end = word << (16 - length), (word + 1) << (16 - length)
        steps[first:end] = [step(symbol, length)] * (end - first)
    return steps


@functools.lru_cache(8)
def dc_steps(code):
    """How many bits the difference takes with its word."""
    if any(symbol > 15 for symbol in code.symbols):
        raise ValueError("a Huffman table for DC has a symbol that there is not")
    return _steps(code, 17, lambda symbol, length: length + symbol)


@functools.lru_cache(8)
def ac_steps(code):
    """How many bits, and how many coefficients on: 64 at the end of the block."""
    return _steps(code, (17, 64), lambda symbol, length: _ac_step(symbol, length, 0))


@functools.lru_cache(8)
def band_steps(code):
    """Likewise in a progressive scan, where a block may be the first of a run that ends: 64 and the bits of its length."""
    return _steps(code, (17, 64), lambda symbol, length: _ac_step(symbol, length, 1))


def _ac_step(symbol, length, runs):
    run, size = symbol >> 4, symbol & 15
    if size or run == 15:
        return length + size, run + 1
    return length + run * runs, 64 + run * runs


@functools.lru_cache(8)
def refinement_steps(code):
    """How many bits, the run, and whether a coefficient follows it."""
    return _steps(code, (17, 0, 0), lambda symbol, length: (length, symbol >> 4, symbol & 15))
