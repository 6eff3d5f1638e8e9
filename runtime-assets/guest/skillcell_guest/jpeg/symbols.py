"""From coefficients to the symbols of a scan: which code word, and which bits after it. All blocks at once.

Every function gives `Symbols` in the order of the file. Symbols of DC count from 256 on, those of a second table from
512 on, so that one number says which word of which table; `RAW` has no word, only bits.
"""

import typing

import numpy

RAW = 1024
DC = 256
_END, _SIXTEEN_ZEROS = 0x00, 0xF0
_LONGEST_RUN = 0x7FFF


class Symbols(typing.NamedTuple):
    symbol: numpy.ndarray
    extra: numpy.ndarray
    size: numpy.ndarray


def _sizes(values):
    """How many bits a value takes."""
    return numpy.frexp(numpy.abs(values).astype(numpy.float64))[1].astype(numpy.int32)


def _extra(values, sizes):
    """The bits of a value: of one below zero, those of its complement."""
    return numpy.where(values < 0, values + (1 << sizes) - 1, values)


def differences(values, owners):
    """Of each block's DC to that of the block before, of the same part."""
    out = numpy.empty_like(values)
    for owner in set(owners):
        mine = [at for at, other in enumerate(owners) if other == owner]
        flat = values[:, mine].reshape(-1)
        out[:, mine] = numpy.diff(flat, prepend=0).reshape(-1, len(mine))
    return out


def of_dc(difference, tables):
    value = difference.reshape(-1)
    sizes = _sizes(value)
    table = numpy.tile(numpy.array(tables, numpy.int32) * 512 + DC, len(difference))
    return Symbols(table + sizes, _extra(value, sizes), sizes)


def of_blocks(units, difference, tables):
    """DC and AC of a sequential scan."""
    blocks = units.reshape(-1, 64)
    table = numpy.tile(numpy.array(tables, numpy.int32) * 512, len(units))
    block, k = numpy.nonzero(blocks[:, 1:])
    value = blocks[block, k + 1].astype(numpy.int32)
    run, begins = _runs(block, k)
    ended = numpy.ones(len(blocks), numpy.int32)
    ended[block[k == 62]] = 0
    # How many symbols a block has, and where its first is.
    count = 1 + ended + numpy.bincount(block, (run >> 4) + 1, len(blocks)).astype(numpy.int32)
    first = numpy.cumsum(count) - count
    out = Symbols(*(numpy.zeros(first[-1] + count[-1], numpy.int32) for _ in range(3)))
    out.symbol[:] = numpy.repeat(table + _SIXTEEN_ZEROS, count)
    out.symbol[(first + count - 1)[ended > 0]] = (table + _END)[ended > 0]
    for column, mine in zip(out, of_dc(difference, tables)):
        column[first] = mine
    _put_values(out, first[block] + 1, run, begins, table[block], value)
    return out


def of_band(blocks, low, table):
    """The first scan of a band of one part; `blocks` has only the band."""
    value = numpy.abs(blocks).astype(numpy.int32) >> low
    block, k = numpy.nonzero(value)
    value = value[block, k] * numpy.where(blocks[block, k] < 0, -1, 1)
    run, begins = _runs(block, k)
    some, place = numpy.unique(block, return_inverse=True)
    ended = numpy.ones(len(blocks) + 1, numpy.int32)
    ended[block[k == blocks.shape[1] - 1]] = 0
    # Blocks that end, up to the next that has something; the last run goes to the end of the scan.
    before = numpy.append(-1, some)
    runs = numpy.append(some, len(blocks)) - before - 1 + numpy.where(before < 0, 0, ended[before])
    whole, rest = runs // _LONGEST_RUN, runs % _LONGEST_RUN
    ends = whole + (rest > 0)
    count = ends + numpy.append(numpy.bincount(place, (run >> 4) + 1, len(some)).astype(numpy.int32), 0)
    first = numpy.cumsum(count) - count
    out = Symbols(*(numpy.zeros(first[-1] + count[-1], numpy.int32) for _ in range(3)))
    out.symbol[:] = table * 512 + _SIXTEEN_ZEROS
    for at in numpy.flatnonzero(whole):
        _put_run_of_ends(out, slice(first[at], first[at] + whole[at]), _LONGEST_RUN, table)
    _put_run_of_ends(out, (first + whole)[rest > 0], rest[rest > 0], table)
    _put_values(out, (first + ends)[place], run, begins, table * 512, value)
    return out


def _put_run_of_ends(out, at, run, table):
    sizes = _sizes(run) - 1
    out.symbol[at], out.size[at], out.extra[at] = table * 512 + (sizes << 4), sizes, run - (1 << sizes)


def _runs(block, k):
    """How many zeros there are before each coefficient in its block, and which is the first of its block."""
    begins = numpy.ones(len(block), bool)
    begins[1:] = block[1:] != block[:-1]
    run = k.astype(numpy.int32)
    run[1:] -= numpy.where(begins[1:], 0, k[:-1] + 1)
    return run, begins


def _put_values(out, first, run, begins, table, value):
    """After the runs of sixteen zeros before it, which are there already. `first`: where each one's block begins."""
    if not len(value):
        return
    steps = numpy.cumsum((run >> 4) + 1)
    # Steps before the block's own.
    earlier = (steps - (run >> 4) - 1)[begins][numpy.cumsum(begins) - 1]
    at = first + steps - earlier - 1
    sizes = _sizes(value)
    out.symbol[at] = table + ((run & 15) << 4) + sizes
    out.size[at], out.extra[at] = sizes, _extra(value, sizes)
