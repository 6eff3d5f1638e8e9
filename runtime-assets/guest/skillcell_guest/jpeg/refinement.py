"""The symbols of a scan that adds a bit to coefficients of a band. Block by block: what is sent depends on all before."""

import numpy

from skillcell_guest.jpeg.symbols import RAW, Symbols

_MOST_ENDS = 0x7FFF
#: libjpeg lets so many bits wait for the end of a run.
_MOST_WAITING = 1000 - 64 + 1
#: How many blocks are made Python's numbers at a time.
_BATCH = 1024


class Refinement:
    def __init__(self, table):
        self._table = table * 512
        self._symbols, self._extra, self._sizes = [], [], []
        #: Blocks that ended since the last symbol, and the bits of coefficients in them.
        self._ends, self._waiting = 0, []

    def of_band(self, blocks, low):
        """`blocks` has only the band."""
        for first in range(0, len(blocks), _BATCH):
            self._batch(blocks[first : first + _BATCH], low)
        self._send_ends()
        return Symbols(*(numpy.array(column, numpy.int32) for column in (self._symbols, self._extra, self._sizes)))

    def _batch(self, blocks, low):
        sizes = numpy.abs(blocks).astype(numpy.int32) >> low
        block, k = numpy.nonzero(sizes)
        there = list(zip(k.tolist(), sizes[block, k].tolist(), (blocks[block, k] > 0).tolist()))
        at = 0
        for count in numpy.bincount(block, minlength=len(blocks)).tolist():
            if count:
                self._block(there[at : at + count], blocks.shape[1])
                at += count
            else:
                self._end([])

    def _block(self, there, width):
        """`there`: (place, size, whether positive) of what is not zero."""
        last_new = 0
        for k, size, _ in there:
            if size == 1:
                last_new = k
        run, bits, behind = 0, [], 0
        for k, size, positive in there:
            run += k - behind
            behind = k + 1
            while run > 15 and k <= last_new:
                self._send_ends()
                self._send(0xF0)
                run -= 16
                bits = self._send_bits(bits)
            if size > 1:
                bits.append(size & 1)
                continue
            self._send_ends()
            self._send((run << 4) + 1, int(positive), 1)
            run, bits = 0, self._send_bits(bits)
        if run or bits or behind < width:
            self._end(bits)

    def _end(self, bits):
        self._ends += 1
        self._waiting += bits
        if self._ends == _MOST_ENDS or len(self._waiting) > _MOST_WAITING:
            self._send_ends()

    def _send_ends(self):
        if self._ends:
            size = self._ends.bit_length() - 1
            self._send(size << 4, self._ends - (1 << size), size)
            self._ends, self._waiting = 0, self._send_bits(self._waiting)

    def _send_bits(self, bits):
        for bit in bits:
            self._symbols.append(RAW)
            self._extra.append(bit)
            self._sizes.append(1)
        return []

    def _send(self, symbol, extra=0, size=0):
        self._symbols.append(self._table + symbol)
        self._extra.append(extra)
        self._sizes.append(size)
