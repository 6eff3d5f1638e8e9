from skillware.core.base_skill import BaseSkill


def one_large():
    return len(bytearray(1 << 30))


def many_small():
    kept = []
    while True:
        kept.append("%d" % len(kept))


def by_doubling():
    kept = b"x"
    while True:
        kept += kept


def handled():
    kept = []
    try:
        while True:
            kept.append(bytearray(1 << 20))
    except MemoryError:
        count = len(kept)
        del kept
        return count > 10 and "caught"


WAYS = {"one large": one_large, "many small": many_small, "doubling": by_doubling, "handled": handled}


class Memory(BaseSkill):
    manifest = {}

    def execute(self, params):
        return WAYS[params["way"]]()
