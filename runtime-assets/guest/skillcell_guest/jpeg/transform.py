"""The discrete cosine transform, forth and back, in integers, with every rounding as libjpeg-turbo has it.

Both work on many blocks at once: arrays of shape (8, 8, blocks). The algorithm is that of Loeffler, Ligtenberg and
Moschytz (ICASSP 1989) with 13 bits of fraction. Arithmetic wraps at 32 bits, and coefficients at 16, as they do there.
"""

import numpy

_BITS, _PASS = 13, 2
_0_211, _0_298, _0_390, _0_509, _0_541, _0_601, _0_720, _0_765 = 1730, 2446, 3196, 4176, 4433, 4926, 5906, 6270
_0_850, _0_899, _1_061, _1_175, _1_272, _1_451, _1_501, _1_847 = 6967, 7373, 8697, 9633, 10426, 11893, 12299, 15137
_1_961, _2_053, _2_172, _2_562, _3_072, _3_624 = 16069, 16819, 17799, 20995, 25172, 29692

#: How many blocks are done at a time, so that what is under way stays in the processor's caches.
AT_ONCE = 2048


def _descaled(value, bits):
    value += 1 << (bits - 1)
    value >>= bits
    return value


def forward(samples):
    """Of samples minus 128 (int32): coefficients, eight times too large."""
    rows = _forward_half(samples.transpose(1, 0, 2), True)
    return _forward_half(rows.transpose(1, 0, 2), False)


def _forward_half(d, first):
    bits = _BITS - _PASS if first else _BITS + _PASS
    t0, t7, t1, t6 = d[0] + d[7], d[0] - d[7], d[1] + d[6], d[1] - d[6]
    t2, t5, t3, t4 = d[2] + d[5], d[2] - d[5], d[3] + d[4], d[3] - d[4]
    t10, t13, t11, t12 = t0 + t3, t0 - t3, t1 + t2, t1 - t2
    out = numpy.empty(d.shape, numpy.int32)
    if first:
        out[0], out[4] = (t10 + t11) << _PASS, (t10 - t11) << _PASS
    else:
        out[0], out[4] = _descaled(t10 + t11, _PASS), _descaled(t10 - t11, _PASS)
    z1 = (t12 + t13) * _0_541
    out[2], out[6] = _descaled(z1 + t13 * _0_765, bits), _descaled(z1 - t12 * _1_847, bits)
    z3, z4 = t4 + t6, t5 + t7
    z5 = (z3 + z4) * _1_175
    z1, z2 = (t4 + t7) * -_0_899, (t5 + t6) * -_2_562
    z3, z4 = z3 * -_1_961 + z5, z4 * -_0_390 + z5
    out[7] = _descaled(t4 * _0_298 + z1 + z3, bits)
    out[5] = _descaled(t5 * _2_053 + z2 + z4, bits)
    out[3] = _descaled(t6 * _3_072 + z2 + z3, bits)
    out[1] = _descaled(t7 * _1_501 + z1 + z4, bits)
    return out


def inverse(coefficients, size):
    """Of dequantised coefficients (int16): samples (uint8) of blocks that are `size` wide and high: 8, 4, 2 or 1."""
    if size == 1:
        return _samples(_descaled(coefficients[:1, :1].astype(numpy.int32), 3))
    half = {8: _inverse_half, 4: _inverse_half_to_4, 2: _inverse_half_to_2}[size]
    extra = {8: 0, 4: 1, 2: 2}[size]
    columns = half(coefficients, _BITS - _PASS + extra)
    numpy.clip(columns, -32768, 32767, out=columns)
    rows = half(columns.astype(numpy.int16).transpose(1, 0, 2), _BITS + _PASS + 3 + extra)
    return _samples(rows.transpose(1, 0, 2))


def _samples(values):
    values += 128
    return numpy.clip(values, 0, 255, out=values).astype(numpy.uint8)


def _wide(values):
    return values.astype(numpy.int32)


def _inverse_half(c, bits):
    in2, in6 = _wide(c[2]), _wide(c[6])
    z1 = (in2 + in6) * _0_541
    t2, t3 = z1 - in6 * _1_847, z1 + in2 * _0_765
    t0, t1 = _wide(c[0] + c[4]) << _BITS, _wide(c[0] - c[4]) << _BITS
    t10, t13, t11, t12 = t0 + t3, t0 - t3, t1 + t2, t1 - t2
    t0, t1, t2, t3 = _wide(c[7]), _wide(c[5]), _wide(c[3]), _wide(c[1])
    z3, z4 = _wide(c[7] + c[3]), _wide(c[5] + c[1])
    z5 = (z3 + z4) * _1_175
    z1, z2 = (t0 + t3) * -_0_899, (t1 + t2) * -_2_562
    z3, z4 = z3 * -_1_961 + z5, z4 * -_0_390 + z5
    t0, t1 = t0 * _0_298 + z1 + z3, t1 * _2_053 + z2 + z4
    t2, t3 = t2 * _3_072 + z2 + z3, t3 * _1_501 + z1 + z4
    out = numpy.empty(c.shape, numpy.int32)
    for place, even, odd in ((0, t10, t3), (1, t11, t2), (2, t12, t1), (3, t13, t0)):
        numpy.add(even, odd, out=out[place])
        numpy.subtract(even, odd, out=out[7 - place])
    return _descaled(out, bits)


def _inverse_half_to_4(c, bits):
    c = _wide(c)
    t0, t2 = c[0] << (_BITS + 1), c[2] * _1_847 - c[6] * _0_765
    t10, t12 = t0 + t2, t0 - t2
    t0 = c[7] * -_0_211 + c[5] * _1_451 - c[3] * _2_172 + c[1] * _1_061
    t2 = c[7] * -_0_509 - c[5] * _0_601 + c[3] * _0_899 + c[1] * _2_562
    return _descaled(numpy.stack((t10 + t2, t12 + t0, t12 - t0, t10 - t2)), bits)


def _inverse_half_to_2(c, bits):
    c = _wide(c)
    t10 = c[0] << (_BITS + 2)
    t0 = c[7] * -_0_720 + c[5] * _0_850 - c[3] * _1_272 + c[1] * _3_624
    return _descaled(numpy.stack((t10 + t0, t10 - t0)), bits)
