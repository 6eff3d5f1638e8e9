"""The symbols of a scan that adds a bit to coefficients of a band. Block by block: what is sent depends on all before."""

import numpy

from skillcell_guest.jpeg.symbols import RAW, Symbols

_MOST_ENDS = 0x7FFF
#: libjpeg lets so many bits wait for the end of a run.
_MOST_WAITING = 1000 - 64 + 1


class Refinement:
    def __init__(self, table):
        self._table = table * 512
        self._symbols, self._extra, self._sizes = [], [], []
        #: Blocks that ended since the last symbol, and the bits of coefficients in them.
        self._ends, self._waiting = 0, []

    def of_band(self, blocks, low):
        """`blocks` has only the band."""
        sizes = numpy.abs(blocks).astype(numpy.int32) >> low
        some = sizes.any(axis=1).tolist()
        for at, there_is in enumerate(some):
            if there_is:
                self._block(sizes[at].tolist(), (blocks[at] >= 0).tolist())
            else:
                self._end([])
        self._send_ends()
        return Symbols(*(numpy.array(column, numpy.int32) for column in (self._symbols, self._extra, self._sizes)))

    def _block(self, sizes, positive):
        last_new = max((k for k, size in enumerate(sizes) if size == 1), default=0)
        run, bits, behind = 0, [], 0
        for k, size in enumerate(sizes):
            if not size:
                run += 1
                continue
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
            self._send((run << 4) + 1, int(positive[k]), 1)
            run, bits = 0, self._send_bits(bits)
        if run or bits or behind < len(sizes):
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
