"""Gotoh's algorithm: to open a gap costs something else than to go on with it.

Three matrices, by how the alignment ends: M with two letters, X with a gap in the second sequence, Y with a gap in
the first. A trace holds which of the three came before.
"""

import numpy as np

from Bio.Align._skillcell_paths import Paths, best, diagonals, letters, total

M, X, Y, START, END = 1, 2, 4, 8, 16
_NEVER = -np.finfo(np.float64).max


def align(rows, columns, pairs, scores, epsilon, mode, paths):
    fill = _global if mode == "global" else _local
    score, traces, finals = fill(rows, columns, pairs, scores, epsilon)
    if not paths:
        return score, None
    if mode == "local":
        _reachable(traces, rows, columns)

    def ends():
        if mode == "global":
            yield from ((state, rows, columns) for state in finals)
        elif score != 0:
            yield from ((M, int(i), int(j)) for i, j in np.argwhere(traces[M] & END))

    def choices(place, first):
        state, i, j = place
        bits = int(traces[state][i, j])
        before = (i - (state != Y), j - (state != X))
        steps = [(other, *before) for other in (M, X, Y) if bits & other]
        return steps or ["start"]

    def count():
        return _count(traces, finals, rows, columns, mode) if mode == "global" or score else 0

    return score, Paths(ends, choices, count)


def _step(before, open_up, extend_up, open_left, extend_left, pair, epsilon):
    """One anti-diagonal: scores and traces of M, X and Y, before they are bounded."""
    (m2, x2, y2), (m_up, x_up, y_up), (m_left, x_left, y_left) = before
    score, trace = best([(m2, M), (x2, X), (y2, Y)], epsilon)
    return {
        M: (score + pair, trace),
        X: best([(m_up + open_up, M), (x_up + extend_up, X), (y_up + open_up, Y)], epsilon),
        Y: best([(m_left + open_left, M), (x_left + open_left, X), (y_left + extend_left, Y)], epsilon),
    }


def _before(older, newer, low, high):
    diagonal = [older[state][low - 1 : high] for state in (M, X, Y)]
    up = [newer[state][low - 1 : high] for state in (M, X, Y)]
    left = [newer[state][low : high + 1] for state in (M, X, Y)]
    return diagonal, up, left


def _empty(rows, columns):
    return {state: np.zeros((rows + 1, columns + 1), dtype=np.uint8) for state in (M, X, Y)}


def _global(rows, columns, pairs, scores, epsilon):
    traces = _empty(rows, columns)
    traces[X][1:, 0], traces[X][1, 0] = X, M
    traces[Y][0, 1:], traces[Y][0, 1] = Y, M
    flat = {state: trace.reshape(-1) for state, trace in traces.items()}
    score = lambda step, place, kind: scores[f"{step}_{place}_{kind}_score"]
    older = {state: np.full(rows + 1, _NEVER) for state in (M, X, Y)}
    newer = {state: np.full(rows + 1, _NEVER) for state in (M, X, Y)}
    older[M][0] = 0.0
    newer[Y][0], newer[X][1] = score("open", "left", "insertion"), score("open", "left", "deletion")
    with np.errstate(over="ignore"):
        for k, low, high, where in diagonals(rows, columns):
            gaps = []
            for kind, at_edge, index in (("deletion", k - low == columns, 0), ("insertion", high == rows, -1)):
                for step in ("open", "extend"):
                    costs = np.full(high - low + 1, score(step, "internal", kind))
                    if at_edge:
                        costs[index] = score(step, "right", kind)
                    gaps.append(costs)
            results = _step(_before(older, newer, low, high), *gaps, pairs(*letters(k, low, high)), epsilon)
            here = {state: np.full(rows + 1, _NEVER) for state in (M, X, Y)}
            for state, (values, trace) in results.items():
                here[state][low : high + 1] = values
                flat[state][where] = trace
            if k <= columns:
                here[Y][0] = score("open", "left", "insertion") + score("extend", "left", "insertion") * (k - 1)
            if k <= rows:
                here[X][k] = score("open", "left", "deletion") + score("extend", "left", "deletion") * (k - 1)
            older, newer = newer, here
    values = {state: float(newer[state][rows]) for state in (M, X, Y)}
    top = max(values.values())
    return top, traces, [state for state in (M, X, Y) if not values[state] < top - epsilon]


def _local(rows, columns, pairs, scores, epsilon):
    traces = _empty(rows, columns)
    traces[M][0, :] = START
    traces[M][:rows, 0] = START
    flat = {state: trace.reshape(-1) for state, trace in traces.items()}
    costs = [scores[f"{step}_internal_{kind}_score"] for kind in ("deletion", "insertion") for step in ("open", "extend")]
    fresh = lambda: {M: np.zeros(rows + 1), X: np.full(rows + 1, _NEVER), Y: np.full(rows + 1, _NEVER)}
    older, newer = fresh(), fresh()
    maximum, found = 0.0, []
    with np.errstate(over="ignore"):
        for k, low, high, where in diagonals(rows, columns):
            results = _step(_before(older, newer, low, high), *costs, pairs(*letters(k, low, high)), epsilon)
            here = fresh()
            values, trace = results[M]
            nothing = values < epsilon if epsilon else values < 0
            values = np.where(nothing, 0.0, values)
            trace = np.where(nothing, np.uint8(START), trace)
            maximum = max(maximum, float(values.max()))
            near = np.flatnonzero((values > maximum - epsilon) & ~nothing)
            found += [(i + low, k - i - low, values[i]) for i in near]
            here[M][low : high + 1], flat[M][where] = values, trace
            # No gap ends an alignment, so there is none in the last row and the last column.
            edge = np.zeros(len(values), dtype=bool)
            edge[0] = k - low == columns
            edge[-1] |= high == rows
            for state in (X, Y):
                values, trace = results[state]
                out = values < epsilon if epsilon else values < 0
                here[state][low : high + 1] = np.where(edge | out, _NEVER, values)
                flat[state][where] = np.where(edge | out, np.uint8(0), trace)
            older, newer = newer, here
    for i, j, score in found:
        if score > maximum - epsilon:
            traces[M][i, j] |= END
    return maximum, traces, []


def _reachable(traces, rows, columns):
    """Without the steps that go on from an end, and without what can then not be reached from a start."""
    flat = {state: trace.reshape(-1) for state, trace in traces.items()}
    older, newer = np.full(rows + 1, M, dtype=np.uint8), np.full(rows + 1, M, dtype=np.uint8)
    for _, low, high, where in diagonals(rows, columns):
        sources = {M: older[low - 1 : high], X: newer[low - 1 : high], Y: newer[low : high + 1]}
        reached = np.zeros(high - low + 1, dtype=np.uint8)
        for state, source in sources.items():
            bits = flat[state][where].copy()
            bits &= source | np.uint8(START | END)
            alive = bits & np.uint8(START | M | X | Y) != 0
            bits[~alive] = 0
            flat[state][where] = bits
            reached |= np.where(alive & (bits & END == 0), np.uint8(state), np.uint8(0))
        here = np.full(rows + 1, M, dtype=np.uint8)
        here[low : high + 1] = reached
        older, newer = newer, here


def _count(traces, finals, rows, columns, mode):
    sums = []
    for kind in (np.uint64, np.float64):
        flat = {state: trace.reshape(-1) for state, trace in traces.items()}

        def edge(k):
            number = {state: np.zeros(rows + 1, dtype=kind) for state in (M, X, Y)}
            if mode == "local":
                number[M][:] = 1
            elif k == 0:
                number[M][0] = 1
            else:
                number[Y][0] = 1
                number[X][k if k <= rows else 0] = 1 if k <= rows else number[X][0]
            return number

        older, newer = edge(0), edge(1)
        ended = kind(0)
        for k, low, high, where in diagonals(rows, columns):
            here = edge(k)
            for state, source in ((M, _before(older, newer, low, high)[0]), (X, _before(older, newer, low, high)[1]), (Y, _before(older, newer, low, high)[2])):
                bits = flat[state][where]
                number = np.zeros(high - low + 1, dtype=kind)
                for other, values in zip((M, X, Y), source):
                    number = number + np.where(bits & other, values, kind(0))
                number[(number == 0) & (bits & START != 0)] = 1
                if state == M:
                    ended += number[bits & END != 0].sum(dtype=kind)
                here[state][low : high + 1] = number
            older, newer = newer, here
        sums.append(sum(newer[state][rows] for state in finals) if mode == "global" else ended)
    return total(*sums)
