"""Between RGB and the luminance and chrominance of JPEG, with libjpeg's tables and roundings.

All take and give arrays of shape (rows, columns) or (rows, columns, bands), uint8.
"""

import numpy

_HALF = 1 << 15


def _fixed(value):
    return int(value * 65536 + 0.5)


_CENTRED = numpy.arange(-128, 128, dtype=numpy.int32)
_CR_TO_R = ((_CENTRED * _fixed(1.402) + _HALF) >> 16).astype(numpy.int16)
_CB_TO_B = ((_CENTRED * _fixed(1.772) + _HALF) >> 16).astype(numpy.int16)
_CR_TO_G = _CENTRED * -_fixed(0.71414) + _HALF
_CB_TO_G = _CENTRED * -_fixed(0.34414)


def to_rgb(y, cb, cr):
    out = numpy.empty((*y.shape, 3), numpy.uint8)
    y = y.astype(numpy.int16)
    out[..., 0] = numpy.clip(y + _CR_TO_R[cr], 0, 255)
    out[..., 1] = numpy.clip(y + ((_CB_TO_G[cb] + _CR_TO_G[cr]) >> 16).astype(numpy.int16), 0, 255)
    out[..., 2] = numpy.clip(y + _CB_TO_B[cb], 0, 255)
    return out


def to_cmyk(y, cb, cr, k):
    return numpy.concatenate((255 - to_rgb(y, cb, cr), k[..., None]), axis=-1)


def from_rgb(pixels):
    """Gives luminance and both chrominances."""
    r, g, b = (pixels[..., band].astype(numpy.int32) for band in range(3))
    y = grey(r, g, b)
    cb = (r * -_fixed(0.168735892) - g * _fixed(0.331264108) + b * _HALF + (128 << 16) + _HALF - 1) >> 16
    cr = (r * _HALF - g * _fixed(0.418687589) - b * _fixed(0.081312411) + (128 << 16) + _HALF - 1) >> 16
    return y, cb.astype(numpy.uint8), cr.astype(numpy.uint8)


def grey(r, g, b):
    """Of int32: luminance."""
    return ((r * _fixed(0.299) + g * _fixed(0.587) + b * _fixed(0.114) + _HALF) >> 16).astype(numpy.uint8)
