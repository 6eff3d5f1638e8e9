"""Makes planes smaller, as an encoder does with colour, and larger again, rounding as libjpeg does."""

import numpy


def larger(plane, across, down, fancy, top, bottom):
    """Rows `top` to `bottom` of the plane, enlarged. Fancy is interpolation, where libjpeg knows how."""
    if (across, down) == (1, 1):
        return plane[top:bottom]
    wide_enough = plane.shape[1] > 2
    if fancy and (across, down) == (2, 1) and wide_enough:
        return _twice_across(plane[top:bottom].astype(numpy.int16), 1, 2, 2)
    if fancy and (across, down) == (1, 2):
        return _twice_down(plane, top, bottom, lambda rows, below: (rows + (2 if below else 1)) >> 2)
    if fancy and (across, down) == (2, 2) and wide_enough:
        return _twice_down(plane, top, bottom, lambda rows, below: _twice_across(rows, 8, 7, 4))
    return plane[top:bottom].repeat(down, axis=0).repeat(across, axis=1)


def _twice_across(rows, left_bias, right_bias, bits):
    """Three parts of a sample and one of its neighbour, to the left and to the right."""
    padded = numpy.pad(rows, ((0, 0), (1, 1)), "edge")
    out = numpy.empty((rows.shape[0], rows.shape[1] * 2), numpy.uint8)
    three = rows * 3
    out[:, 0::2] = (three + padded[:, :-2] + left_bias) >> bits
    out[:, 1::2] = (three + padded[:, 2:] + right_bias) >> bits
    return out


def _twice_down(plane, top, bottom, finish):
    """Likewise with the rows above and below."""
    last = plane.shape[0] - 1
    rows = numpy.arange(top, bottom)
    three = plane[top:bottom].astype(numpy.int16) * 3
    above = finish(three + plane[numpy.maximum(rows - 1, 0)], False)
    below = finish(three + plane[numpy.minimum(rows + 1, last)], True)
    out = numpy.empty((above.shape[0] * 2, above.shape[1]), numpy.uint8)
    out[0::2], out[1::2] = above, below
    return out


def smaller(plane, across, down, width, height, smoothing):
    """The plane with one sample where there were `across` by `down`, and `width` samples in a row.

    It may have fewer rows than `height`; the last is to be repeated then.
    """
    rows = (height if smoothing else -(-plane.shape[0] // down)) * down
    plane = numpy.pad(plane, ((0, rows - plane.shape[0]), (0, width * across - plane.shape[1])), "edge")
    if smoothing and (across, down) in ((1, 1), (2, 2)):
        return _smoothed(plane.astype(numpy.int32), across, smoothing)
    if (across, down) == (1, 1):
        return plane
    total = plane.astype(numpy.int16)
    total = sum(total[y::down, x::across] for y in range(down) for x in range(across))
    # One half is rounded up and down in turn, so that the picture gets neither lighter nor darker.
    odd = numpy.arange(width, dtype=numpy.int16) & 1
    if (across, down) == (2, 1):
        total = (total + odd) >> 1
    elif (across, down) == (2, 2):
        total = (total + 1 + odd) >> 2
    else:
        total = (total + across * down // 2) // (across * down)
    return total.astype(numpy.uint8)


def _smoothed(plane, step, smoothing):
    """Each sample is mixed with its eight neighbours first."""
    padded = numpy.pad(plane, 1, "edge")
    height, width = plane.shape

    def shifted(y, x):
        return padded[1 + y : 1 + y + height : step, 1 + x : 1 + x + width : step]

    if step == 1:
        members = plane
        neighbours = sum(shifted(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1)) - members
        mixed = members * (65536 - smoothing * 512) + neighbours * (smoothing * 64)
    else:
        members = sum(shifted(y, x) for y in (0, 1) for x in (0, 1))
        edges = sum(shifted(y, x) for y in (-1, 2) for x in (0, 1)) + sum(shifted(y, x) for y in (0, 1) for x in (-1, 2))
        corners = sum(shifted(y, x) for y in (-1, 2) for x in (-1, 2))
        mixed = members * (16384 - smoothing * 80) + (edges * 2 + corners) * (smoothing * 16)
    return ((mixed + 32768) >> 16).astype(numpy.uint8)
