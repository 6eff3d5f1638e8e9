"""From a file that was taken apart to pixels."""

import numpy

from skillcell_guest.jpeg import bands, colour, sampling, scan, transform
from skillcell_guest.jpeg.stream import Broken
from skillcell_guest.jpeg.tables import ZIGZAG

#: How many rows of units are given at a time.
_UNITS = 16


def decode(stream, mode, scale):
    """Gives (first row, pixels) from top to bottom, `scale` times smaller than the picture: 1, 2, 4 or 8."""
    layout = scan.Layout(stream)
    coefficients = numpy.zeros((layout.blocks, 64), numpy.int16)
    try:
        for one in stream.scans:
            (bands if one.first else scan).decode(one, layout, coefficients)
    except ValueError as error:
        raise Broken(str(error)) from error
    smallest = 8 // scale
    planes = [_Plane(stream, layout, part, smallest, coefficients) for part in layout.parts]
    coefficients = None
    space = _space(stream)
    height, width = -(-stream.height // scale), -(-stream.width // scale)
    step = layout.most_down * smallest * _UNITS
    for top in range(0, height, step):
        bottom = min(top + step, height)
        rows = [plane.enlarged(top, bottom)[:, :width] for plane in planes]
        yield top, _converted(rows, space, mode)


class _Plane:
    """The samples of a component, and how they are enlarged to the size of the picture."""

    def __init__(self, stream, layout, part, smallest, coefficients):
        if part.quantisation is None:
            raise Broken("a component that no scan is of")
        size = smallest
        while size < 8 and _fits(layout.most_across * smallest, part.across * size * 2) and _fits(
            layout.most_down * smallest, part.down * size * 2
        ):
            size *= 2
        across, down = part.across * size // smallest, part.down * size // smallest
        if layout.most_across % across or layout.most_down % down:
            raise Broken("a sampling that libjpeg can't enlarge")
        self._across, self._down = layout.most_across // across, layout.most_down // down
        self._fancy = smallest > 1
        height = -(-stream.height * part.down * size // (layout.most_down * 8))
        width = -(-stream.width * part.across * size // (layout.most_across * 8))
        self._samples = _samples(part, coefficients, size)[:height, :width]

    def enlarged(self, top, bottom):
        first, last = top // self._down, min(-(-bottom // self._down), len(self._samples))
        return sampling.larger(self._samples, self._across, self._down, self._fancy, first, last)[: bottom - top]


def _fits(whole, part):
    return whole % part == 0


def _samples(part, coefficients, size):
    factors = numpy.array(part.quantisation, numpy.uint16).astype(numpy.int16)[:, None]
    plane = numpy.empty((part.rows * size, part.columns * size), numpy.uint8)
    step = max(1, transform.AT_ONCE // part.columns)
    order = numpy.array(ZIGZAG)
    for row in range(0, part.rows, step):
        rows = min(step, part.rows - row)
        first = part.start + row * part.columns
        some = coefficients[first : first + rows * part.columns].T * factors
        blocks = transform.inverse(some[order].reshape(8, 8, -1), size).reshape(size, size, rows, part.columns)
        target = plane[row * size : (row + rows) * size].reshape(rows, size, part.columns, size)
        target[...] = blocks.transpose(2, 0, 3, 1)
    return plane


def _space(stream):
    """Which colours the components are: libjpeg's guess."""
    numbers = [part.number for part in stream.components]
    if len(numbers) == 1:
        return "L"
    if len(numbers) == 4:
        return "CMYK" if not stream.adobe else "YCCK"
    if stream.jfif:
        return "YCbCr"
    if stream.adobe is not None:
        return "YCbCr" if stream.adobe else "RGB"
    return "RGB" if bytes(numbers) == b"RGB" else "YCbCr"


def _converted(rows, space, mode):
    if mode == space or (mode, space) == ("L", "YCbCr") or mode not in ("L", "RGB", "CMYK"):
        return rows[0] if mode == "L" else numpy.stack(rows, axis=-1)
    if (mode, space) == ("RGB", "YCbCr"):
        return colour.to_rgb(*rows)
    if (mode, space) == ("CMYK", "YCCK"):
        return colour.to_cmyk(*rows)
    if (mode, space) == ("L", "RGB"):
        return colour.grey(*(plane.astype(numpy.int32) for plane in rows))
    if (mode, space) == ("RGB", "L"):
        return numpy.stack(rows * 3, axis=-1)
    raise Broken(f"{space} can't be made {mode}")
