"""Writes the scans of a file: one of everything, or those of libjpeg's progression."""

import struct

import numpy

from skillcell_guest.jpeg import blocks, symbols
from skillcell_guest.jpeg.entropy import Packer, best_code
from skillcell_guest.jpeg.refinement import Refinement
from skillcell_guest.jpeg.tables import AC, DC

#: How many units are made symbols at a time.
_AT_ONCE = 1024


def encode(parts, space, options, tables):
    """`tables`: whether the standard ones are to be in the file."""
    last = 0
    out = []
    for chosen, band, bits in _progression(parts, space) if options.progressive else [(range(len(parts)), (0, 63), (0, 0))]:
        scan = _Scan([parts[at] for at in chosen], band, bits, options)
        out.append(scan.encode(last, tables))
        last = scan.restart
    return b"".join(out)


class _Scan:
    def __init__(self, parts, band, bits, options):
        self._parts, (self._first, self._last), (self._high, self._low) = parts, band, bits
        self._units = blocks.Units(parts)
        self._codes = [parts[owner].code for owner in self._units.owners]
        self._best = options.optimize or options.progressive
        self.restart = min(options.restart_rows * self._units.across, 65535) or options.restart_blocks

    def encode(self, last_restart, tables):
        segments = self._segments()
        if self._best:
            segments = [list(segment) for segment in segments]
            codes = self._best_codes(segments)
        else:
            codes = {base: table[base // 512] for base, table in self._bases()}
        head = b"".join(_dht(base, codes[base]) for base, _ in self._bases()) if tables or self._best else b""
        if self.restart != last_restart:
            head += b"\xff\xdd\0\4" + struct.pack(">H", self.restart)
        packer = Packer(codes)
        out = []
        for number, segment in enumerate(segments):
            for some in segment:
                packer.put(some)
            if number:
                out.append(bytes((0xFF, 0xD0 + (number - 1) % 8)))
            out.append(packer.finish())
        return head + self._header() + b"".join(out)

    def _bases(self):
        """The tables that this scan needs, in the order of the file."""
        bases = {}
        for part in self._parts:
            if self._first == 0 and not self._high:
                bases[part.code * 512 + symbols.DC] = DC
            if self._last:
                bases[part.code * 512] = AC
        return bases.items()

    def _segments(self):
        step = self.restart or self._units.count
        for first in range(0, self._units.count, step):
            yield self._symbols(first, min(first + step, self._units.count))

    def _symbols(self, first, last):
        units, low = self._units, self._low
        if self._first:
            band = units.take(first, last)[:, 0, self._first : self._last + 1]
            code = self._codes[0]
            yield Refinement(code).of_band(band, low) if self._high else symbols.of_band(band, low, code)
            return
        dc = units.take(first, last, 1)[:, :, 0].astype(numpy.int32) >> low
        if self._high:
            bit = dc.reshape(-1) & 1
            yield symbols.Symbols(numpy.full_like(bit, symbols.RAW), bit, numpy.ones_like(bit))
            return
        difference = symbols.differences(dc, units.owners)
        for at in range(first, last, _AT_ONCE):
            end = min(at + _AT_ONCE, last)
            these = difference[at - first : end - first]
            if self._last:
                yield symbols.of_blocks(units.take(at, end), these, self._codes)
            else:
                yield symbols.of_dc(these, self._codes)

    def _best_codes(self, segments):
        counts = numpy.zeros(symbols.RAW + 1, numpy.int64)
        for segment in segments:
            for some in segment:
                counts += numpy.bincount(some.symbol, minlength=len(counts))
        return {base: best_code(counts[base : base + 256]) for base, _ in self._bases()}

    def _header(self):
        body = bytes([len(self._parts)])
        for part in self._parts:
            dc = part.code if self._first == 0 and not self._high else 0
            body += bytes((part.number, dc << 4 | (part.code if self._last else 0)))
        body += bytes((self._first, self._last, self._high << 4 | self._low))
        return b"\xff\xda" + struct.pack(">H", len(body) + 2) + body


_BASES = ((0, AC), (symbols.DC, DC))


def standard_tables():
    return b"".join(_dht(number * 512 + base, table[number]) for number in (0, 1) for base, table in _BASES[::-1])


def _dht(base, code):
    number = base // 512 | (0 if base & symbols.DC else 0x10)
    body = bytes([number]) + code.counts + code.symbols
    return b"\xff\xc4" + struct.pack(">H", len(body) + 2) + body


def _progression(parts, space):
    """libjpeg's: (parts, band, (bit so far, bit))."""
    every = range(len(parts))
    if space == "YCbCr":
        return [
            (every, (0, 0), (0, 1)), ([0], (1, 5), (0, 2)), ([2], (1, 63), (0, 1)), ([1], (1, 63), (0, 1)),
            ([0], (6, 63), (0, 2)), ([0], (1, 63), (2, 1)), (every, (0, 0), (1, 0)), ([2], (1, 63), (1, 0)),
            ([1], (1, 63), (1, 0)), ([0], (1, 63), (1, 0)),
        ]  # fmt: skip
    out = [(every, (0, 0), (0, 1))]
    for band, bits in (((1, 5), (0, 2)), ((6, 63), (0, 2)), ((1, 63), (2, 1))):
        out += [([part], band, bits) for part in every]
    return [*out, (every, (0, 0), (1, 0)), *(([part], (1, 63), (1, 0)) for part in every)]
