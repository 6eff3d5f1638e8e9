"""Decodes the AC scans of a progressive file: a band of coefficients of one component, or one more bit of each."""

import numpy

from skillcell_guest.jpeg import bits
from skillcell_guest.jpeg.scan import units_of, values

#: How many blocks are in hand at once while bits are added to them.
_BATCH = 1024


def decode(scan, layout, coefficients):
    ((index, _, code),) = scan.components
    targets = layout.targets([index])[:, 0]
    if scan.high:
        _Refinement(scan, code, targets, coefficients).decode()
    else:
        _First(scan, code, targets, coefficients).decode()


class _First:
    def __init__(self, scan, code, targets, coefficients):
        self._scan, self._code, self._targets, self._coefficients = scan, code, targets, coefficients

    def decode(self):
        window, marks = bits.Window(self._scan.segments), []
        for (first, last), (position, end) in zip(units_of(self._scan, len(self._targets)), window.segments):
            while first < last and position <= end:
                if not window.base <= position < window.limit:
                    self._keep(window, marks)
                    marks = []
                    window.move(position)
                bound = min(end, window.limit - 1) - window.base
                position, first = self._find(window.looked_up, position - window.base, bound, first, last, marks)
                position += window.base
        self._keep(window, marks)

    def _find(self, sixteen, position, bound, block, last, marks):
        """Notes the complement of a block's number, and then where its codes begin."""
        steps, mark = bits.band_steps(self._code), marks.append
        begin, end = self._scan.first, self._scan.last
        while block < last and position <= bound:
            mark(~block)
            k = begin
            while k <= end:
                mark(position)
                length, step = steps[sixteen[position]]
                position += length
                k += step
                if step > 64:
                    run = step - 64
                    block += (1 << run) - 1 + (sixteen[position - run] >> (16 - run))
            block += 1
        return position, block

    def _keep(self, window, marks):
        if not marks:
            return
        lengths, symbols = bits.lengths_and_symbols(self._code)
        marks = numpy.array(marks, numpy.int32)
        is_block = marks < 0
        block = numpy.cumsum(is_block) - 1
        at = numpy.where(is_block, 0, marks)
        coded = window.sixteen[at]
        symbol = symbols[coded]
        value = values(window.sixteen[at + lengths[coded]], symbol & 15)
        step = (symbol >> 4).astype(numpy.int32) + 1
        step[is_block] = self._scan.first - 1
        k = numpy.cumsum(step)
        k -= (k - step)[is_block][block]
        kept = ~is_block & (symbol & 15 > 0)
        places = self._targets[~marks[is_block]][block[kept]] * 64 + numpy.minimum(k[kept], 63)
        self._coefficients.reshape(-1)[places] = value[kept] << self._scan.low


class _Refinement:
    def __init__(self, scan, code, targets, coefficients):
        self._scan, self._targets, self._coefficients = scan, targets, coefficients
        self._steps = bits.refinement_steps(code)
        self._run = 0

    def decode(self):
        window = bits.Window(self._scan.segments)
        band = slice(self._scan.first, self._scan.last + 1)
        for (first, last), (position, end) in zip(units_of(self._scan, len(self._targets)), window.segments):
            self._run = 0
            for batch in range(first, last, _BATCH):
                places = self._targets[batch : min(batch + _BATCH, last)]
                rows = self._coefficients[places, band].tolist()
                position = self._refine(window, position, end, rows)
                self._coefficients[places, band] = numpy.array(rows, numpy.int32)

    def _refine(self, window, position, end, rows):
        base, sixteen = window.base, window.looked_up
        for row in rows:
            if position > end:
                break
            if self._run and not any(row):
                self._run -= 1
                continue
            if not base <= position < window.limit:
                window.move(position)
                base, sixteen = window.base, window.looked_up
            position = base + self._refine_block(sixteen, position - base, row)
        return position

    def _refine_block(self, sixteen, position, row):
        steps, count, k = self._steps, len(row), 0
        plus, minus = 1 << self._scan.low, -1 << self._scan.low
        while not self._run and k < count:
            length, run, new = steps[sixteen[position]]
            position += length
            if new:
                new = plus if sixteen[position] >> 15 else minus
                position += 1
            elif run < 15:
                self._run = 1 << run
                if run:
                    self._run += sixteen[position] >> (16 - run)
                position += run
                break
            while k < count:
                value = row[k]
                if value:
                    if sixteen[position] >> 15 and not value & plus:
                        row[k] = value + (plus if value > 0 else minus)
                    position += 1
                else:
                    run -= 1
                    if run < 0:
                        break
                k += 1
            if new:
                row[k if k < count else -1] = new
            k += 1
        if self._run:
            self._run -= 1
            for k in range(k, count):
                value = row[k]
                if value:
                    if sixteen[position] >> 15 and not value & plus:
                        row[k] = value + (plus if value > 0 else minus)
                    position += 1
        return position
