"""From pixels to quantised coefficients, component by component: the half of writing that loses something."""

import numpy

from skillcell_guest.jpeg import colour, sampling, transform
from skillcell_guest.jpeg.tables import NATURAL

#: How many rows of pixels have their colours changed at a time.
_ROWS = 256


class Part:
    """A component: its number in the file, its sampling factors, its tables; then its blocks."""

    def __init__(self, number, table, factor=1):
        self.number, self.table, self.code = number, table, table
        self.across = self.down = factor


def planes(rows, height, mode, space):
    """One array for each component of `space`. `rows` gives pixels, from a row to another: (rows, columns, bands)."""
    out = []
    for top in range(0, height, _ROWS):
        pixels = rows(top, min(top + _ROWS, height))
        changed = (mode, space) == ("RGB", "YCbCr")
        some = colour.from_rgb(pixels) if changed else [pixels[..., band] for band in range(pixels.shape[2])]
        out = out or [numpy.empty((height, pixels.shape[1]), numpy.uint8) for _ in some]
        for plane, piece in zip(out, some):
            plane[top : top + _ROWS] = piece
    return out


def quantise(parts, samples, tables, smoothing):
    """Gives each part `blocks`: shape (rows, columns, 64), in the order of the file. Takes the samples."""
    most_across, most_down = max(p.across for p in parts), max(p.down for p in parts)
    height, width = samples[0].shape
    for part in parts:
        plane = samples.pop(0)
        columns = -(-width * part.across // (8 * most_across))
        rows = -(-height * part.down // (8 * most_down))
        across, down = most_across // part.across, most_down // part.down
        plane = sampling.smaller(plane, across, down, columns * 8, rows * 8, smoothing)
        part.blocks = _transformed(plane, rows, columns, numpy.array(tables[part.table], numpy.int32))


def _transformed(plane, rows, columns, factors):
    out = numpy.empty((rows, columns, 64), numpy.int16)
    divisors = factors.reshape(8, 8, 1) * 8
    order = numpy.array(NATURAL)
    step = max(1, transform.AT_ONCE // columns)
    for row in range(0, rows, step):
        count = min(step, rows - row)
        some = plane[row * 8 : (row + count) * 8]
        some = numpy.pad(some, ((0, count * 8 - len(some)), (0, 0)), "edge").astype(numpy.int32)
        some -= 128
        some = some.reshape(count, 8, columns, 8).transpose(1, 3, 0, 2).reshape(8, 8, -1)
        value = transform.forward(some)
        size = numpy.abs(value)
        size += divisors >> 1
        size //= divisors
        size[value < 0] *= -1
        out[row : row + count] = size.reshape(64, -1)[order].T.reshape(count, columns, 64)
    return out


class Units:
    """The blocks of parts as one scan has them: unit after unit, each with some blocks of every part.

    A unit at the edge is filled up with blocks that have nothing but the DC of the one before.
    """

    def __init__(self, parts):
        self._parts, self._alone = parts, len(parts) == 1
        sizes = [(-(-part.blocks.shape[0] // part.down), -(-part.blocks.shape[1] // part.across)) for part in parts]
        down, self.across = parts[0].blocks.shape[:2] if self._alone else map(max, zip(*sizes))
        self.count = down * self.across
        #: For each block of a unit: which part it is of.
        self.owners = [0]
        if not self._alone:
            self.owners = [at for at, part in enumerate(parts) for _ in range(part.across * part.down)]

    def take(self, first, last, coefficients=64):
        """Units, shape (units, blocks in a unit, coefficients)."""
        if self._alone:
            return self._parts[0].blocks.reshape(-1, 1, 64)[first:last, :, :coefficients]
        top, bottom = first // self.across, -(-last // self.across)
        every = [self._of(part, top, bottom, coefficients) for part in self._parts]
        skipped = top * self.across
        return numpy.concatenate(every, axis=1)[first - skipped : last - skipped]

    def _of(self, part, top, bottom, coefficients):
        some = part.blocks[top * part.down : bottom * part.down, :, :coefficients]
        rows, columns, _ = some.shape
        whole = numpy.zeros(((bottom - top) * part.down, self.across * part.across, coefficients), numpy.int16)
        whole[:rows, :columns] = some
        whole[:rows, columns:, 0] = some[:, -1:, 0]
        for row in range(rows, len(whole)):
            whole[row, :, 0] = whole[row - 1, part.across - 1 :: part.across, 0].repeat(part.across)
        whole = whole.reshape(bottom - top, part.down, self.across, part.across, coefficients).transpose(0, 2, 1, 3, 4)
        return whole.reshape((bottom - top) * self.across, -1, coefficients)
