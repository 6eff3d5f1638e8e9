"""Pairwise alignment for Biopython's own `PairwiseAligner`, in numpy instead of C.

The scores, the ties that count as equal and the order of the alignments are those of the native module, so that
`aligner.align(a, b)[0]` is the same alignment. Gap functions and FOGSAA are not here.
"""

import numpy as np

from Bio.Align import _skillcell_affine as affine
from Bio.Align import _skillcell_linear as linear

_KINDS = ("insertion", "deletion")
_PLACES = ("internal", "left", "right")
_STEPS = ("open", "extend")
_BASE = [f"{step}_{place}_{kind}_score" for kind in _KINDS for place in _PLACES for step in _STEPS]


def _missing(what):
    return NotImplementedError(f"not available in a skillcell cell: {what} is native code of Biopython")


def _shared(name, parts):
    """A score that reads and writes several others at once, as `gap_score` does."""

    def read(self):
        values = {self._scores[part] for part in parts}
        if len(values) != 1:
            raise ValueError("gap scores are different")
        return values.pop()

    def write(self, value):
        if callable(value):
            raise _missing(f"a gap function (`{name}`)")
        value = _number(value)
        for part in parts:
            self._scores[part] = value

    return property(read, write, doc=name.replace("_", " "))


def _number(value):
    if isinstance(value, str) or not hasattr(value, "__float__") and not hasattr(value, "__index__"):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return float(value)


def _sequence(values):
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"sequence has incorrect rank ({array.ndim} expected 1)")
    if array.size == 0:
        raise ValueError("sequence has zero length")
    if array.dtype.kind != "i" or array.dtype.itemsize != 4:
        raise ValueError(f"sequence has incorrect data type '{array.dtype.char}'")
    return array


class PairwiseAligner:
    """The part of Biopython's `PairwiseAligner` that is native elsewhere."""

    def __init__(self):
        values = {
            "mode": "global",
            "match": 1.0,
            "mismatch": 0.0,
            "matrix": None,
            "wildcard": None,
            "epsilon": 1e-6,
            "scores": dict.fromkeys(_BASE, -1.0),
        }
        for key, value in values.items():
            # Biopython's subclass refuses attributes that this class does not have.
            object.__setattr__(self, f"_{key}", value)

    @property
    def mode(self):
        return self._mode

    @mode.setter
    def mode(self, value):
        if value not in ("global", "local", "fogsaa"):
            raise ValueError("invalid mode (expected 'global', 'local', or 'fogsaa'")
        object.__setattr__(self, "_mode", value)

    @property
    def match_score(self):
        return None if self._matrix is not None else self._match

    @match_score.setter
    def match_score(self, value):
        object.__setattr__(self, "_match", _number(value))
        object.__setattr__(self, "_matrix", None)

    @property
    def mismatch_score(self):
        return None if self._matrix is not None else self._mismatch

    @mismatch_score.setter
    def mismatch_score(self, value):
        object.__setattr__(self, "_mismatch", _number(value))
        object.__setattr__(self, "_matrix", None)

    match, mismatch = match_score, mismatch_score

    @property
    def substitution_matrix(self):
        return self._matrix

    @substitution_matrix.setter
    def substitution_matrix(self, value):
        if value is not None:
            array = np.asarray(value)
            if array.ndim != 2:
                raise ValueError(f"substitution matrix has incorrect rank ({array.ndim} expected 2)")
            if array.size == 0:
                raise ValueError("substitution matrix has zero size")
            if array.dtype != np.float64:
                raise ValueError("substitution matrix should contain float values")
            if array.shape[0] != array.shape[1]:
                raise ValueError("substitution matrix should be square (found a %d x %d matrix)" % array.shape)
        object.__setattr__(self, "_matrix", value)

    @property
    def wildcard(self):
        return self._wildcard

    @wildcard.setter
    def wildcard(self, value):
        if value is not None and not isinstance(value, str):
            raise TypeError("wildcard should be a single character, or None")
        if value is not None and len(value) != 1:
            raise ValueError("wildcard should be a single character, or None")
        object.__setattr__(self, "_wildcard", value)

    @property
    def epsilon(self):
        return self._epsilon

    @epsilon.setter
    def epsilon(self, value):
        object.__setattr__(self, "_epsilon", _number(value))

    @property
    def algorithm(self):
        if self._mode == "fogsaa":
            return "Fast Optimal Global Sequence Alignment Algorithm"
        if self._linear():
            return "Needleman-Wunsch" if self._mode == "global" else "Smith-Waterman"
        return f"Gotoh {self._mode} alignment algorithm"

    def _linear(self):
        scores = self._scores
        return all(
            scores[f"open_{place}_{kind}_score"] == scores[f"extend_{place}_{kind}_score"]
            for kind in _KINDS
            for place in _PLACES
        )

    def __repr__(self):
        return (
            "Pairwise aligner, implementing the Needleman-Wunsch, Smith-Waterman, Gotoh, or Waterman-Smith-Beyer "
            "global or local alignment algorithm, or the Fast Optimal Global Sequence Alignment Algorithm"
        )

    def __str__(self):
        lines = ["Pairwise sequence aligner with parameters"]
        if self._matrix is None:
            lines.append(f"  wildcard: {self._wildcard!r}")
            lines.append(f"  match_score: {self._match:f}")
            lines.append(f"  mismatch_score: {self._mismatch:f}")
        else:
            lines.append(f"  substitution_matrix: <{type(self._matrix).__name__} object at {hex(id(self._matrix))}>")
        lines += [f"  {name}: {self._scores[name]:f}" for name in _BASE]
        return "\n".join([*lines, f"  mode: {self._mode}", ""])

    def align(self, sequenceA, sequenceB, strand):
        """The best score, and the paths that have it."""
        return self._run(sequenceA, sequenceB, strand, paths=True)

    def score(self, sequenceA, sequenceB, strand="+"):
        """The best score."""
        return self._run(sequenceA, sequenceB, strand, paths=False)

    def warn_defaults_changed(self):
        """Native Biopython tells here of a change in its defaults; nothing calls it."""

    def _run(self, a, b, strand, paths):
        if strand not in ("+", "-"):
            raise ValueError("strand must be '+' or '-'")
        if self._mode == "fogsaa":
            raise _missing("the mode 'fogsaa'")
        a, b = _sequence(a), _sequence(b)
        scores = dict(self._scores)
        if strand == "-":
            for name in _BASE:
                other = {"left": "right", "right": "left"}.get(name.split("_")[1])
                if other:
                    step, _, rest = name.split("_", 2)
                    scores[name] = self._scores[f"{step}_{other}_{rest}"]
        # Without paths, ties don't matter, and the score is the plain maximum.
        epsilon = self._epsilon if paths else 0.0
        algorithm = linear if self._linear() else affine
        score, found = algorithm.align(len(a), len(b), self._pairs(a, b), scores, epsilon, self._mode, paths)
        if not paths:
            return score
        found.reverse_query = len(b) if strand == "-" else None
        return score, found

    def _pairs(self, a, b):
        """A function from two slices of `a` and `b` to the scores of their letters, pair by pair."""
        if self._matrix is None:
            wildcard = -1 if self._wildcard is None else ord(self._wildcard)

            def compare(x, y):
                scores = np.where(x == y, self._match, self._mismatch)
                scores[(x == wildcard) | (y == wildcard)] = 0.0
                return scores

            return lambda x, y: compare(a[x], b[y])
        matrix = np.asarray(self._matrix, dtype=np.float64)
        alphabet = getattr(self._matrix, "alphabet", None)
        a, b = (_indices(sequence, alphabet, len(matrix)) for sequence in (a, b))
        return lambda x, y: matrix[a[x], b[y]]


def _indices(sequence, alphabet, size):
    if isinstance(alphabet, str):
        letters = np.array([ord(letter) for letter in alphabet])
        order = np.argsort(letters)
        found = order[np.searchsorted(letters, sequence, sorter=order).clip(max=len(letters) - 1)]
        if (letters[found] != sequence).any():
            raise ValueError("sequence contains letters not in the alphabet")
        return found
    if (sequence < 0).any() or (sequence >= size).any():
        raise ValueError(f"sequence item is out of range (should be between 0 and {size})")
    return sequence


def _names():
    """Every score that has a name of its own, with the base scores that it stands for."""
    places = {"": _PLACES, "end_": ("left", "right"), **{f"{place}_": (place,) for place in _PLACES}}
    kinds = {"gap": _KINDS, **{kind: (kind,) for kind in _KINDS}}
    for step, steps in {"": _STEPS, **{f"{step}_": (step,) for step in _STEPS}}.items():
        for place, where in places.items():
            for kind, what in kinds.items():
                yield f"{step}{place}{kind}_score", [f"{s}_{w}_{k}_score" for s in steps for w in where for k in what]


for _name, _parts in _names():
    setattr(PairwiseAligner, _name, _shared(_name, _parts))
