"""Codon alignment is native code of Biopython and has no stand-in."""


class CodonAligner:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("not available in a skillcell cell: CodonAligner is native code of Biopython")
