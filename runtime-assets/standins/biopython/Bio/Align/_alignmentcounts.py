"""Counting what an alignment holds is native code of Biopython and has no stand-in."""


class AlignmentCounts:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("not available in a skillcell cell: Alignment.counts is native code of Biopython")
