"""Arranges memory so that a call touches few pages; the last thing that runs before an image is taken.

A cell's memory is the image's, copied page by page as it is written to, and every copy costs about as much as running
a thousand bytecodes. So: garbage is collected and what is left is never looked at again by the collector; free holes
in the allocator are filled, so that a call's objects come from one fresh stretch instead of from wherever something
was freed; and objects that live as long as the image are made immortal, so that using them no longer writes their
reference counts.
"""

import array
import gc
import sys
import types

from skillcell_guest import door

#: CPython's small-object allocator (Objects/obmalloc.c), 32-bit: size classes, pools of one class, arenas of pools.
_STEP, _LARGEST = 8, 512
_POOL, _ARENA = 1 << 14, 1 << 20
#: How far filling goes before it gives up on finding fresh memory; more than any skill leaves free.
_MOST_POOLS = 4096
#: Larger blocks come from the C library's allocator, whose free chunks are filled likewise.
_LARGE = [1 << power for power in range(20, 9, -1)]
#: Left free at the top of the heap, so that an ordinary call need not ask the host for memory.
_HEADROOM = 8 << 20
#: What may become immortal: things whose behaviour does not depend on their reference count. Left out are instances of
#: a skill's own classes (`__del__`), open files, generators, arrays (numpy's `resize` asks for the count).
_LASTING = (
    type, types.ModuleType, types.FunctionType, types.CodeType, types.BuiltinFunctionType, types.MethodType,
    types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
    types.ClassMethodDescriptorType, types.MappingProxyType, types.CellType, dict, list, tuple, set, frozenset, str,
    bytes, int, float, complex, property, staticmethod, classmethod,
)  # fmt: skip

_filler = []
_OVERHEAD = sys.getsizeof(b"")


def settle():
    gc.collect()
    _pin(_lasting_objects())
    gc.collect()
    gc.freeze()
    _fill_large()
    _fill_small()
    bytes(_HEADROOM)


def _block(size):
    """A bytes object that takes exactly `size` bytes of memory."""
    return bytes(size - _OVERHEAD)


def _fill_large():
    """Takes the C library's free chunks, largest first, until blocks come from above everything that is in use."""
    top = id(_hold(_block(_LARGE[0] * 2)))
    for size in _LARGE:
        while id(_hold(_block(size))) < top:
            pass


def _fill_small():
    """Takes all free pools, then the free blocks of each size class, so that every class goes on in a new arena."""
    arena = _fresh_arena()
    for size in range(_LARGEST, _STEP, -_STEP):
        if size < _OVERHEAD:
            break
        while not arena <= id(_hold(_block(size))) < arena + 2 * _ARENA:
            pass


def _fresh_arena():
    """Fills pools until they follow one another, as only those of an unused arena do."""
    last, run = 0, 0
    for _ in range(_MOST_POOLS * (_POOL // _LARGEST)):
        pool = id(_hold(_block(_LARGEST))) & -_POOL
        if pool != last:
            run = run + 1 if pool == last + _POOL else 0
            last = pool
        if run == _ARENA // _POOL // 2:
            break
    return last


def _hold(block):
    _filler.append(block)
    return block


def _lasting_objects():
    """Everything reachable from the modules: containers through the collector, their contents through those."""
    seen = {}
    todo = gc.get_objects()
    while todo:
        batch = [item for item in todo if id(item) not in seen]
        for item in batch:
            seen[id(item)] = item
        todo = gc.get_referents(*batch) if batch else []
    return [item for item in seen.values() if type(item) in _LASTING or issubclass(type(item), type)]


def _pin(objects):
    """Has the host make these immortal, now, while each of them is certainly alive: `objects` holds them."""
    door.send(door.PINS, array.array("I", map(id, objects)).tobytes())
