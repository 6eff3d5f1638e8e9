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


def planes(pixels, mode, space):
    """One array for each component of `space`."""
    if (mode, space) != ("RGB", "YCbCr"):
        return [pixels[..., band] for band in range(pixels.shape[2])]
    out = [numpy.empty(pixels.shape[:2], numpy.uint8) for _ in range(3)]
    for row in range(0, len(pixels), _ROWS):
        for plane, some in zip(out, colour.from_rgb(pixels[row : row + _ROWS])):
            plane[row : row + _ROWS] = some
    return out


def quantise(parts, samples, tables, smoothing):
    """Gives each part `blocks`: shape (rows, columns, 64), in the order of the file."""
    most_across, most_down = max(p.across for p in parts), max(p.down for p in parts)
    height, width = samples[0].shape
    for part, plane in zip(parts, samples):
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


def in_units(parts):
    """The blocks of all parts as one scan has them, shape (units, blocks in a unit, 64), and the part of each in a unit.

    A unit at the edge is filled up with blocks that have nothing but the DC of the one before.
    """
    if len(parts) == 1:
        return parts[0].blocks.reshape(-1, 1, 64), [0]
    across = max(-(-part.blocks.shape[1] // part.across) for part in parts)
    down = max(-(-part.blocks.shape[0] // part.down) for part in parts)
    every, owners = [], []
    for owner, part in enumerate(parts):
        rows, columns, _ = part.blocks.shape
        whole = numpy.zeros((down * part.down, across * part.across, 64), numpy.int16)
        whole[:rows, :columns] = part.blocks
        whole[:rows, columns:, 0] = part.blocks[:, -1:, 0]
        for row in range(rows, len(whole)):
            whole[row, :, 0] = whole[row - 1, part.across - 1 :: part.across, 0].repeat(part.across)
        whole = whole.reshape(down, part.down, across, part.across, 64).transpose(0, 2, 1, 3, 4)
        every.append(whole.reshape(down * across, -1, 64))
        owners += [owner] * (part.across * part.down)
    return numpy.concatenate(every, axis=1), owners
