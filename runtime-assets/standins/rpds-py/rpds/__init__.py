"""A stand-in for rpds: HashTrieMap, HashTrieSet, List, Queue and Stack over pyrsistent.

`referencing`, and with it every jsonschema since 4.18, needs it.
"""

from collections.abc import Mapping, Set

from pyrsistent import pdeque, plist, pmap, pset

__all__ = ["HashTrieMap", "HashTrieSet", "List", "Queue", "Stack"]


class HashTrieMap(Mapping):
    """A mapping of which every change is a new one."""

    __slots__ = ("_map",)

    def __init__(self, value=(), /, **kwargs):
        if isinstance(value, HashTrieMap):
            self._map = value._map.update(kwargs) if kwargs else value._map
        else:
            self._map = pmap(dict(value, **kwargs))

    @classmethod
    def _of(cls, found):
        made = cls.__new__(cls)
        made._map = found
        return made

    @classmethod
    def convert(cls, value):
        return value if isinstance(value, cls) else cls(value)

    @classmethod
    def fromkeys(cls, keys, value=None):
        return cls(dict.fromkeys(keys, value))

    def __getitem__(self, key):
        return self._map[key]

    def __iter__(self):
        return iter(self._map)

    def __len__(self):
        return len(self._map)

    def __contains__(self, key):
        return key in self._map

    def get(self, key, default=None):
        return self._map.get(key, default)

    def insert(self, key, value):
        return self._of(self._map.set(key, value))

    def remove(self, key):
        return self._of(self._map.remove(key))

    def discard(self, key):
        return self._of(self._map.discard(key))

    def update(self, *maps, **kwargs):
        found = self._map
        for other in (*maps, kwargs):
            found = found.update(dict(other))
        return self._of(found)

    def __eq__(self, other):
        return dict(self) == dict(other) if isinstance(other, HashTrieMap) else NotImplemented

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __repr__(self):
        return f"HashTrieMap({{{', '.join(f'{key!r}: {value!r}' for key, value in self.items())}}})"

    def __reduce__(self):
        return type(self), (dict(self),)


class HashTrieSet(Set):
    """A set of which every change is a new one."""

    __slots__ = ("_set",)

    def __init__(self, value=(), /):
        self._set = value._set if isinstance(value, HashTrieSet) else pset(value)

    @classmethod
    def _of(cls, found):
        made = cls.__new__(cls)
        made._set = found
        return made

    @classmethod
    def _from_iterable(cls, iterable):
        return cls(iterable)

    def __contains__(self, value):
        return value in self._set

    def __iter__(self):
        return iter(self._set)

    def __len__(self):
        return len(self._set)

    def insert(self, value):
        return self._of(self._set.add(value))

    def remove(self, value):
        return self._of(self._set.remove(value))

    def discard(self, value):
        return self._of(self._set.discard(value))

    def update(self, *iterables):
        found = self._set
        for iterable in iterables:
            found = found.update(iterable)
        return self._of(found)

    def union(self, other):
        return self.update(other)

    def intersection(self, other):
        return type(self)(value for value in other if value in self)

    def difference(self, other):
        other = set(other)
        return type(self)(value for value in self if value not in other)

    def symmetric_difference(self, other):
        return type(self)(set(self) ^ set(other))

    def __hash__(self):
        return hash(frozenset(self))

    def __repr__(self):
        return f"HashTrieSet({{{', '.join(map(repr, self))}}})"

    def __reduce__(self):
        return type(self), (list(self),)


class _Sequence:
    """What List, Queue and Stack have in common."""

    __slots__ = ("_values",)

    def __init__(self, *elements):
        if len(elements) == 1 and hasattr(elements[0], "__iter__"):
            elements = tuple(elements[0])
        self._values = self._make(elements)

    @classmethod
    def _of(cls, values):
        made = cls.__new__(cls)
        made._values = values
        return made

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __bool__(self):
        return len(self) > 0

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, type(self)) else NotImplemented

    def __hash__(self):
        return hash(tuple(self))

    def __repr__(self):
        return f"{type(self).__name__}([{', '.join(map(repr, self))}])"

    def __reduce__(self):
        return type(self), (list(self),)


class List(_Sequence):
    __slots__ = ()
    _make = staticmethod(plist)

    @property
    def first(self):
        if not self:
            raise IndexError("empty list has no first element")
        return self._values.first

    @property
    def rest(self):
        return self._of(self._values.rest)

    def push_front(self, value):
        return self._of(self._values.cons(value))

    def drop_first(self):
        if not self:
            raise IndexError("empty list has no first element")
        return self.rest

    def __reversed__(self):
        return self._of(self._values.reverse())


class Queue(_Sequence):
    __slots__ = ()
    _make = staticmethod(pdeque)

    def is_empty(self):
        return not self

    def peek(self):
        if not self:
            raise IndexError("peeked an empty queue")
        return self._values.left

    def enqueue(self, value):
        return self._of(self._values.append(value))

    def dequeue(self):
        if not self:
            raise IndexError("dequeued an empty queue")
        return self._of(self._values.popleft())


class Stack(_Sequence):
    __slots__ = ()

    @staticmethod
    def _make(elements):
        return plist(reversed(elements))

    def peek(self):
        if not self:
            raise IndexError("peeked an empty stack")
        return self._values.first

    def push(self, value):
        return self._of(self._values.cons(value))

    def pop(self):
        if not self:
            raise IndexError("popped an empty stack")
        return self._of(self._values.rest)

    def __repr__(self):
        return f"Stack([{', '.join(map(repr, self._values.reverse()))}])"

    def __reduce__(self):
        return Stack, (list(self._values.reverse()),)
