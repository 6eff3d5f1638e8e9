"""Reading printed alignments is native code of Biopython and has no stand-in."""


class PrintedAlignmentParser:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError(
            "not available in a skillcell cell: reading printed alignments is native code of Biopython"
        )
