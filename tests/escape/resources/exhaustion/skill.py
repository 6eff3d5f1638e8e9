"""Uses up whatever there is: time, memory, stack, disk, output, calls."""

import gzip
import io
import json
import os
import re
import sys
import time
import zipfile

from skillware.core.base_skill import BaseSkill


class Exhaustion(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return getattr(self, params["attempt"])(params.get("much", 0))

    # Time.

    def loop(self, much):
        for _ in range(much) if much else iter(int, 1):
            pass
        return "done"

    def sleep(self, much):
        time.sleep(much)
        return "done"

    def swallow(self, much):
        """Deaf to every exception."""
        while much >= 0:
            try:
                while True:
                    much -= 1
                    if much == 0:
                        return "done"
            except BaseException:
                pass

    def expression(self, much):
        """Backtracks for ages."""
        return bool(re.match("(a+)+$", "a" * much + "b"))

    def nested_expression(self, much):
        return bool(re.match("(?:(?:a*)*)*c", "a" * much))

    def power(self, much):
        return (10**much).bit_length() > 0

    def digits(self, much):
        sys.set_int_max_str_digits(0)
        return len(str((1 << much) - 1)) > 0

    def number_from_text(self, much):
        return int("9" * much) > 0

    def decimal(self, much):
        import decimal

        decimal.getcontext().prec = decimal.MAX_PREC if much > 10**9 else 20
        return str(decimal.Decimal(1) / 7)[:4]

    def sort(self, much):
        class Never:
            def __lt__(self, other):
                while much:
                    pass
                return True

        return len(sorted([Never(), Never()]))

    # Memory.

    def one_block(self, much):
        return len(bytearray(much))

    def many_blocks(self, much):
        return len([bytearray(1000) for _ in range(much)])

    def repeat(self, much):
        return len("x" * much)

    def shift(self, much):
        return (1 << much).bit_length()

    def dictionary(self, much):
        return len({number: None for number in range(much)})

    # Stack.

    def recursion(self, much):
        return self.recursion(much - 1) if much else "done"

    def deep_recursion(self, much):
        sys.setrecursionlimit(10**9)
        return self.recursion(much)

    def deep_repr(self, much):
        value = []
        for _ in range(much):
            value = [value]
        return len(repr(value)) > 0

    def deep_json(self, much):
        return len(str(json.loads("[" * much + "]" * much))) > 0

    def deep_result(self, much):
        value = []
        for _ in range(much):
            value = [value]
        return value

    def deep_parse(self, much):
        return eval("(" * much + ")" * much) == ()

    def deep_destruction(self, much):
        """Freed from the outside in."""
        first = None
        for _ in range(much):
            first = [first]
        del first
        return "done"

    # Output and result.

    def print_much(self, much):
        for _ in range(much):
            print("0123456789" * 10)
        return "done"

    def warn_much(self, much):
        for _ in range(much):
            sys.stderr.write("0123456789")
        return "done"

    def result(self, much):
        return "x" * much

    def wide_result(self, much):
        return [0] * much

    def long_message(self, much):
        raise ValueError("x" * much)

    # Disk.

    def file(self, much):
        with open("/tmp/file", "wb") as file:
            for _ in range(much):
                file.write(bytes(100_000))
        return "done"

    def hole(self, much):
        """Takes no space elsewhere."""
        with open("/tmp/hole", "wb") as file:
            file.seek(much)
            file.write(b"x")
        return "done"

    def files(self, much):
        for number in range(much):
            open(f"/tmp/{number}", "w").close()
        return "done"

    def folders(self, much):
        """Deeper than paths are long."""
        os.chdir("/tmp")
        for _ in range(much):
            os.mkdir("d")
            os.chdir("d")
        return "done"

    def deleted(self, much):
        """Space that no name leads to."""
        held = []
        for number in range(much):
            held.append(open("/tmp/gone", "wb", buffering=0))
            held[-1].write(bytes(1_000_000))
            os.unlink("/tmp/gone")
        return "done"

    # Calls to the host.

    def clock(self, much):
        for _ in range(much):
            time.time()
        return "done"

    def random(self, much):
        for _ in range(much):
            os.urandom(1)
        return "done"

    def status(self, much):
        for _ in range(much):
            os.stat("/tmp")
        return "done"

    def entropy(self, much):
        return len(os.urandom(much))

    # Bombs in data.

    def zip_bomb(self, much):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("bomb", bytes(1 << 20))
        with zipfile.ZipFile(packed) as archive:
            return len(b"".join(archive.read("bomb") for _ in range(much)))

    def gzip_bomb(self, much):
        piece = gzip.compress(bytes(1 << 20))
        return len(gzip.decompress(piece * much))

    def entities(self, much):
        """A billion laughs."""
        from xml.etree import ElementTree

        lines = ['<!ENTITY e0 "ha">'] + [f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, much)]
        text = f'<!DOCTYPE a [{"".join(lines)}]><a>&e{much - 1};</a>'
        return len(ElementTree.fromstring(text).text) > 0
