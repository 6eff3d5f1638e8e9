"""Calls native code, and reads and writes raw addresses."""

import ctypes
import dis
import sys
import types
from opcode import _inline_cache_entries

from skillware.core.base_skill import BaseSkill
from window import HEADER, address_of, window

try:
    import numpy
    from numpy.lib.stride_tricks import as_strided
except ImportError:
    numpy = None  # the second runtime has none

FAR = 1 << 30
#: Of a following instruction: an index that lies 1 GiB on.
FAR_ARGUMENT = [("EXTENDED_ARG", 16), ("EXTENDED_ARG", 0), ("EXTENDED_ARG", 0)]


def _plain(a=1):
    b = a
    return b


def _function(code):
    return types.FunctionType(code, {}, "changed", (1,))


def _run(*instructions):
    """Bytecode that no compiler would make."""
    caches = [("CACHE", 0)] * _inline_cache_entries.get("RESUME", 0)
    whole = [("RESUME", 0), *caches, *instructions, ("RETURN_VALUE", 0)]
    code = b"".join(bytes([dis.opmap[name], argument]) for name, argument in whole)
    return _function(_plain.__code__.replace(co_code=code, co_stacksize=4))()


def _beyond(distance):
    """Bytes of which the last one lies so far from one that is ours."""
    if numpy:
        return as_strided(numpy.zeros(1, "u1"), (2,), (distance,))
    return window((id(_plain) + distance) % (1 << 32), 1)


class Native(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return getattr(self, params["attempt"])()

    def string_at(self):
        return ctypes.string_at(id(b"x"), 64)

    def from_address(self):
        return ctypes.c_char.from_address(0).value

    def memmove(self):
        ctypes.memmove(0, b"x", 1)

    def library(self):
        return ctypes.CDLL("libc.so.6").system(b"id")

    def own_symbols(self):
        return ctypes.CDLL(None)

    def python_api(self):
        return ctypes.pythonapi.PyRun_SimpleString

    def ctypes_of_c(self):
        import _ctypes

        return _ctypes.dlopen

    def extension(self):
        """Native code that the skill brings along."""
        import importlib.machinery
        import importlib.util

        with open("/tmp/evil.so", "wb") as file:
            file.write(b"\x7fELF")
        loader = importlib.machinery.ExtensionFileLoader("evil", "/tmp/evil.so")
        return importlib.util.module_from_spec(importlib.util.spec_from_loader("evil", loader))

    def dynamic(self):
        import _imp
        import importlib.machinery

        return _imp.create_dynamic(importlib.machinery.ModuleSpec("evil", None, origin="/tmp/evil.so"))

    def map_memory(self):
        import mmap

        return mmap.mmap(-1, 4096)

    def test_module(self):
        import _testcapi

        return _testcapi

    def test_internals(self):
        import _testinternalcapi

        return _testinternalcapi

    def fault(self):
        import faulthandler

        faulthandler._sigsegv()

    def fatal(self):
        import faulthandler

        faulthandler._fatal_error_c_thread()

    def watchdog_thread(self):
        import faulthandler

        faulthandler.dump_traceback_later(0.01, exit=True)

    def dump(self):
        """The frames of this interpreter, and of no other."""
        import faulthandler

        with open("/tmp/dump", "w+") as file:
            faulthandler.dump_traceback(file)
            file.seek(0)
            return "skill.py" in file.read()

    def switch_interval(self):
        sys.setswitchinterval(1e-9)
        while True:
            pass

    def bad_constant(self):
        """Reads far beyond a function's constants."""
        return repr(_run(*FAR_ARGUMENT, ("LOAD_CONST", 0)))

    def bad_local(self):
        """Reads far beyond a function's variables."""
        return repr(_run(*FAR_ARGUMENT, ("LOAD_FAST", 0)))

    def bad_store(self):
        """Writes far beyond a function's variables."""
        return repr(_run(("LOAD_FAST", 0), *FAR_ARGUMENT, ("STORE_FAST", 0), ("LOAD_FAST", 0)))

    def empty_stack(self):
        """Takes more from the stack than is on it."""
        return repr(_run(*[("POP_TOP", 0)] * 20000))

    def jump_far(self):
        """Runs what is beyond the end of its code."""
        return repr(_run(("EXTENDED_ARG", 16), ("EXTENDED_ARG", 0), ("EXTENDED_ARG", 0), ("JUMP_FORWARD", 0)))

    def garbage_code(self):
        import marshal

        exec(marshal.loads(b"\xe3" + b"\x00" * 12))

    def read_far(self):
        """Beyond the cell's memory, where the host's is."""
        return int(_beyond(FAR)[-1])

    def write_far(self):
        _beyond(FAR)[-1] = 1

    def read_before(self):
        """Below address 0: an address is 32 bits, so this is above again."""
        return int(_beyond(-FAR)[-1])

    def write_everything(self):
        """Overwrites all that lies below an array: the interpreter, its stack and its types."""
        if numpy:
            array = numpy.zeros(1, "u1")
            as_strided(array, (array.__array_interface__["data"][0],), (-1,))[:] = 0xFF
        else:
            end = address_of(bytearray(4 << 20))
            window(64, end)[:] = window(8192, end)
        return [int(x) for x in "123"]

    def search(self):
        """All of the cell's memory, for a marker of the host's."""
        # A large array lies above everything else.
        if not numpy:
            return self._find_in_bytes(window(64, address_of(bytearray(4 << 20)) - 64))
        array = numpy.zeros(4 << 20, "u1")
        start = array.__array_interface__["data"][0]
        whole = as_strided(array, (start,), (-1,))
        return self._find(whole)

    def _find(self, whole):
        begin = numpy.frombuffer(b"-yranac", "u1")
        here = numpy.flatnonzero(whole[: len(whole) - 8] == begin[0])
        for step in range(1, len(begin)):
            here = here[whole[here - step] == begin[step]]
        # The marker's end stands in this file's constants, and in what was made of them; a whole one has digits before it.
        digits = numpy.frombuffer(b"0123456789abcdef", "u1")
        return int(sum(all(numpy.isin(whole[at + 1 : at + 25], digits)) for at in here))

    def _find_in_bytes(self, whole):
        digits, found = set(b"0123456789abcdef"), 0
        at = whole.find(b"-yranac")
        while at >= 0:
            found += at >= 24 and digits.issuperset(whole[at - 24 : at])
            at = whole.find(b"-yranac", at + 1)
        return found

    # What may be done.

    def sizes(self):
        return [ctypes.sizeof(ctypes.c_long), ctypes.sizeof(ctypes.c_void_p)]

    def arrays(self):
        if not numpy:
            own = bytes(range(4))
            return window(id(own) + HEADER, 4)[2]
        return int(as_strided(numpy.arange(4, dtype="u1"), (2,), (2,))[1])

    def changed_code(self):
        return _function(_plain.__code__.replace(co_name="other"))()

    def big(self):
        return len(bytearray(1 << 20))
