"""Needleman-Wunsch and Smith-Waterman: each letter of a gap costs the same."""

import numpy as np

from Bio.Align._skillcell_paths import Paths, best, diagonals, letters, total

LEFT, UP, DIAGONAL, START, END = 1, 2, 4, 8, 16


def align(rows, columns, pairs, scores, epsilon, mode, paths):
    fill = _global if mode == "global" else _local
    score, trace = fill(rows, columns, pairs, scores, epsilon)
    if not paths:
        return score, None
    if mode == "local":
        trace = _reachable(trace, rows, columns)

    def ends():
        if mode == "global":
            yield rows, columns
        elif score != 0:
            yield from ((int(i), int(j)) for i, j in np.argwhere(trace & END))

    def choices(place, first):
        i, j = place
        bits = int(trace[i, j])
        if mode == "local" and first:
            bits &= DIAGONAL
        steps = []
        if bits & LEFT:
            steps.append((i, j - 1))
        if bits & UP:
            steps.append((i - 1, j))
        if bits & DIAGONAL:
            steps.append((i - 1, j - 1))
        return steps or ["start"]

    return score, Paths(ends, choices, lambda: _count(trace, rows, columns, mode) if mode == "global" or score else 0)


def _global(rows, columns, pairs, scores, epsilon):
    trace = np.zeros((rows + 1, columns + 1), dtype=np.uint8)
    trace[0, 1:] = LEFT
    trace[1:, 0] = UP
    left = np.full(rows + 1, scores["extend_internal_insertion_score"])
    left[rows] = scores["extend_right_insertion_score"]
    up, last_up = scores["extend_internal_deletion_score"], scores["extend_right_deletion_score"]
    first_left, first_up = scores["extend_left_insertion_score"], scores["extend_left_deletion_score"]
    older = np.zeros(rows + 1)
    newer = np.zeros(rows + 1)
    newer[0], newer[1] = first_left, first_up
    flat = trace.reshape(-1)
    for k, low, high, where in diagonals(rows, columns):
        ups = np.full(high - low + 1, up)
        if k - low == columns:
            ups[0] = last_up
        here = np.empty(rows + 1)
        here[low : high + 1], flat[where] = best(
            [
                (older[low - 1 : high] + pairs(*letters(k, low, high)), DIAGONAL),
                (newer[low : high + 1] + left[low : high + 1], LEFT),
                (newer[low - 1 : high] + ups, UP),
            ],
            epsilon,
        )
        if k <= columns:
            here[0] = k * first_left
        if k <= rows:
            here[k] = k * first_up
        older, newer = newer, here
    return float(newer[rows]), trace


def _local(rows, columns, pairs, scores, epsilon):
    trace = np.zeros((rows + 1, columns + 1), dtype=np.uint8)
    trace[0, :] = START
    trace[:, 0] = START
    left, up = scores["extend_internal_insertion_score"], scores["extend_internal_deletion_score"]
    older, newer = np.zeros(rows + 1), np.zeros(rows + 1)
    flat = trace.reshape(-1)
    maximum, found = 0.0, []
    for k, low, high, where in diagonals(rows, columns):
        diagonal = older[low - 1 : high] + pairs(*letters(k, low, high))
        score, bits = best(
            [
                (diagonal, DIAGONAL),
                (newer[low : high + 1] + left, LEFT),
                (newer[low - 1 : high] + up, UP),
            ],
            epsilon,
        )
        # No gap ends an alignment, so there is none in the last row and the last column.
        edge = np.zeros(len(score), dtype=bool)
        edge[0] = k - low == columns
        edge[-1] |= high == rows
        score = np.where(edge, diagonal, score)
        bits = np.where(edge, np.uint8(DIAGONAL), bits)
        nothing = score < epsilon if epsilon else score < 0
        score = np.where(nothing, 0.0, score)
        bits = np.where(nothing, np.where(edge, bits, np.uint8(START)), bits)
        maximum = max(maximum, float(score.max()))
        near = np.flatnonzero((score > maximum - epsilon) & (bits & DIAGONAL != 0) & ~nothing)
        found += [(i + low, k - i - low, score[i]) for i in near]
        flat[where] = bits
        here = np.zeros(rows + 1)
        here[low : high + 1] = score
        older, newer = newer, here
    for i, j, score in found:
        if score > maximum - epsilon:
            trace[i, j] |= END
    return maximum, trace


def _reachable(trace, rows, columns):
    """Without the steps that go on from an end, and without what can then not be reached from a start."""
    flat = trace.reshape(-1)
    older, newer = np.ones(rows + 1, dtype=bool), np.ones(rows + 1, dtype=bool)
    for _, low, high, where in diagonals(rows, columns):
        bits = flat[where].copy()
        bits[~older[low - 1 : high]] &= ~np.uint8(DIAGONAL)
        bits[~newer[low : high + 1]] &= ~np.uint8(LEFT)
        bits[~newer[low - 1 : high]] &= ~np.uint8(UP)
        reached = bits & np.uint8(START | LEFT | UP | DIAGONAL) != 0
        bits[~reached] = 0
        flat[where] = bits
        here = np.ones(rows + 1, dtype=bool)
        here[low : high + 1] = reached & (bits & END == 0)
        older, newer = newer, here
    return trace


def _count(trace, rows, columns, mode):
    sums = []
    for kind in (np.uint64, np.float64):
        flat = trace.reshape(-1)
        older, newer = np.ones(rows + 1, dtype=kind), np.ones(rows + 1, dtype=kind)
        ended = kind(0)
        for _, low, high, where in diagonals(rows, columns):
            bits = flat[where]
            number = np.where(bits & DIAGONAL, older[low - 1 : high], kind(0))
            ended += number[bits & END != 0].sum(dtype=kind)
            number = number + np.where(bits & LEFT, newer[low : high + 1], kind(0))
            number = number + np.where(bits & UP, newer[low - 1 : high], kind(0))
            number[(number == 0) & (bits & START != 0)] = 1
            here = np.ones(rows + 1, dtype=kind)
            here[low : high + 1] = number
            older, newer = newer, here
        sums.append(newer[rows] if mode == "global" else ended)
    return total(*sums)
