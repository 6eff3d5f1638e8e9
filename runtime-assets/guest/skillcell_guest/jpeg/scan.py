"""Decodes a scan of a sequential file, or the DC scans of a progressive one, into coefficients.

The loop in `_find` notes where each code begins; `_keep` reads them all at once. Damage is borne as libjpeg bears it:
what is missing is zero.
"""

import numpy

from skillcell_guest.jpeg import bits


class Layout:
    """Where the blocks of a frame are in one long array: component after component, in whole units."""

    def __init__(self, stream):
        parts = stream.components
        self.most_across, self.most_down = max(p.across for p in parts), max(p.down for p in parts)
        self.across = -(-stream.width // (8 * self.most_across))
        self.down = -(-stream.height // (8 * self.most_down))
        self.parts, self.blocks = parts, 0
        for part in parts:
            part.start, part.columns, part.rows = self.blocks, self.across * part.across, self.down * part.down
            part.width = -(-stream.width * part.across // (8 * self.most_across))
            part.height = -(-stream.height * part.down // (8 * self.most_down))
            self.blocks += part.columns * part.rows

    def targets(self, chosen):
        """For each block of a scan in its order, where it is; shape (units, blocks in a unit)."""
        if len(chosen) == 1:
            part = self.parts[chosen[0]]
            rows, columns = numpy.arange(part.height)[:, None], numpy.arange(part.width)[None, :]
            return (part.start + rows * part.columns + columns).reshape(-1, 1)
        rows, columns = numpy.arange(self.down)[:, None], numpy.arange(self.across)[None, :]
        every = []
        for part in (self.parts[index] for index in chosen):
            for y in range(part.down):
                for x in range(part.across):
                    place = part.start + (rows * part.down + y) * part.columns + columns * part.across + x
                    every.append(place.reshape(-1))
        return numpy.stack(every, axis=1)


def units_of(scan, count):
    """For each segment: the first unit in it, and the one after its last."""
    step = scan.restart or count
    return [(first, min(first + step, count)) for first in range(0, count, step)]


def decode(scan, layout, coefficients):
    chosen = [index for index, _, _ in scan.components]
    targets = layout.targets(chosen)
    blocks = []
    for at, (index, _, _) in enumerate(scan.components):
        part = layout.parts[index]
        blocks += [at] * (1 if len(chosen) == 1 else part.across * part.down)
    if scan.high:
        return _refine_dc(scan, targets, coefficients)
    _Sequential(scan, targets, blocks, coefficients).decode()


class _Sequential:
    def __init__(self, scan, targets, blocks, coefficients):
        self._scan, self._targets, self._coefficients = scan, targets, coefficients
        #: For each block of a unit: which component of the scan it is of.
        self._blocks = blocks
        self._decoded = numpy.zeros(len(targets), bool)
        self._plan = []
        lengths, symbols = [], []
        for _, dc, ac in scan.components:
            for code in (dc, ac) if ac else (dc, dc):
                length, symbol = bits.lengths_and_symbols(code)
                lengths.append(length)
                symbols.append(symbol)
        self._lengths, self._symbols = numpy.stack(lengths), numpy.stack(symbols)
        for at in blocks:
            _, dc, ac = scan.components[at]
            self._plan.append((bits.dc_steps(dc), bits.ac_steps(ac) if ac else None))

    def decode(self):
        window = bits.Window(self._scan.segments)
        runs = units_of(self._scan, len(self._targets))
        # What was found and not kept yet: positions, and the units that they are of.
        marks, units = [], []
        for (first, last), (position, end) in zip(runs, window.segments):
            while first < last and position <= end:
                if not window.base <= position < window.limit:
                    self._keep(window, marks, units)
                    marks, units = [], []
                    window.move(position)
                base = window.base
                bound = min(end, window.limit - 1) - base
                position, done = self._find(window.looked_up, position - base, bound, last - first, marks)
                position += base
                units.append(numpy.arange(first, first + done))
                first += done
        self._keep(window, marks, units)
        self._add_up(runs)

    def _find(self, sixteen, position, bound, count, marks):
        """Notes where codes begin, the DC's of a block as its complement, for `count` units or up to `bound`."""
        plan, mark, left = self._plan, marks.append, count
        if plan[0][1] is None:
            while left and position <= bound:
                for dc, _ in plan:
                    mark(~position)
                    position += dc[sixteen[position]]
                left -= 1
            return position, count - left
        while left and position <= bound:
            for dc, ac in plan:
                mark(~position)
                position += dc[sixteen[position]]
                k = 1
                while k < 64:
                    mark(position)
                    length, step = ac[sixteen[position]]
                    position += length
                    k += step
            left -= 1
        return position, count - left

    def _keep(self, window, marks, units):
        """Reads the codes at `marks`, all at once."""
        if not marks:
            return
        units = numpy.concatenate(units)
        self._decoded[units] = True
        marks = numpy.array(marks, numpy.int32)
        is_dc = marks < 0
        at = numpy.where(is_dc, ~marks, marks)
        block = numpy.cumsum(is_dc) - 1
        table = numpy.array(self._blocks)[block % len(self._blocks)] * 2 + (marks >= 0)
        coded = window.sixteen[at]
        symbol = self._symbols[table, coded]
        value = values(window.sixteen[at + self._lengths[table, coded]], symbol & 15)
        step = (symbol >> 4).astype(numpy.int32) + 1
        step[is_dc] = 0
        k = numpy.cumsum(step)
        k -= k[is_dc][block]
        kept = is_dc | (symbol & 15 > 0)
        places = self._targets[units].reshape(-1)[block[kept]] * 64 + numpy.minimum(k[kept], 63)
        self._coefficients.reshape(-1)[places] = value[kept]

    def _add_up(self, runs):
        """From differences to values, beginning anew in each segment."""
        for at in range(len(self._scan.components)):
            mine = [block for block, owner in enumerate(self._blocks) if owner == at]
            targets = self._targets[:, mine]
            total = numpy.cumsum(self._coefficients[targets, 0].astype(numpy.int32).reshape(-1))
            total = total.reshape(targets.shape)
            for first, last in runs[1:][::-1]:
                total[first:last] -= total[first - 1, -1]
            total[~self._decoded] = 0
            self._coefficients[targets, 0] = total << self._scan.low


def values(following, size):
    """The number in the first `size` of the bits that follow a code; those that begin with 0 are negative."""
    size = size.astype(numpy.int32)
    value = following.astype(numpy.int32) >> (16 - size)
    return numpy.where(value < (1 << size) >> 1, value - (1 << size) + 1, value)


def _refine_dc(scan, targets, coefficients):
    """One more bit for each block, as it is in the file."""
    for (first, last), segment in zip(units_of(scan, len(targets)), scan.segments):
        more = numpy.unpackbits(numpy.frombuffer(segment, numpy.uint8))
        places = targets[first:last].reshape(-1)[: len(more)]
        coefficients[places, 0] |= more[: len(places)].astype(numpy.int16) << scan.low
