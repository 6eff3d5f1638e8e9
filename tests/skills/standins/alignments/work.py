"""Alignments of all kinds, by Biopython."""

import random

from Bio.Align import PairwiseAligner, substitution_matrices
from Bio.Seq import Seq

SETTINGS = [
    {},
    {"mode": "local"},
    {"match_score": 2, "mismatch_score": -1, "gap_score": -0.5},
    {"mode": "local", "match_score": 5, "mismatch_score": -4, "gap_score": -2},
    {"match_score": 2, "mismatch_score": -1, "open_gap_score": -2, "extend_gap_score": -0.5},
    {"mode": "local", "match_score": 2, "mismatch_score": -3, "open_gap_score": -5, "extend_gap_score": -1},
    {"open_gap_score": -2, "extend_gap_score": -0.1, "end_gap_score": 0},
    {"gap_score": -1, "left_deletion_score": -0.25, "right_insertion_score": 0, "wildcard": "N"},
]


def work():
    random.seed(20)
    found = {"alignments": [], "printed": [], "translated": []}
    for _ in range(6):
        first, second = ("".join(random.choice("ACGTN") for _ in range(random.randint(1, 14))) for _ in range(2))
        for number, settings in enumerate(SETTINGS):
            aligner = PairwiseAligner(**settings)
            alignments = aligner.align(first, second)
            paths = [one.coordinates.tolist() for one, _ in zip(alignments, range(5))]
            found["alignments"].append([number, first, second, aligner.algorithm, alignments.score, len(alignments), paths])
    aligner = PairwiseAligner()
    aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    aligner.open_gap_score, aligner.extend_gap_score = -11, -1
    best = aligner.align("MKTAYIAKQRQISFVKSHFSRQ", "MKTAYIKQRQISFVKHFSQQ")[0]
    found["printed"] = [best.score, str(best)]
    gene = Seq("ATGGCCATTGTAATGGGCCGCTGAAAGGGTGCCCGATAG")
    for table in (1, 2, 11):
        found["translated"].append(str(gene.translate(table=table)))
    found["translated"] += [str(gene.transcribe()), str(gene.reverse_complement())]
    return found
