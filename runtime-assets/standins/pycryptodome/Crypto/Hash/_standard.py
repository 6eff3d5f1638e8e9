"""The hashes that `hashlib` has, with pycryptodome's interface."""

import hashlib


class Hash:
    """A running hash of `hashlib`. `new` of its module makes it."""

    def __init__(self, name, oid, data=None):
        self._name, self.oid = name, oid
        self._hash = hashlib.new(name)
        self.name = name.replace("_", "-").upper()
        self.digest_size, self.block_size = self._hash.digest_size, self._hash.block_size
        if data:
            self.update(data)

    def update(self, data):
        self._hash.update(data)
        return self

    def digest(self):
        return self._hash.digest()

    def hexdigest(self):
        return self._hash.hexdigest()

    def copy(self):
        other = Hash(self._name, self.oid)
        other._hash = self._hash.copy()
        return other

    def new(self, data=None):
        return Hash(self._name, self.oid, data)


def module(name, oid):
    """What a module of one hash offers: `new`, `digest_size`, `block_size`."""
    sample = hashlib.new(name)
    return {
        "new": lambda data=None: Hash(name, oid, data),
        "digest_size": sample.digest_size,
        "block_size": sample.block_size,
        "oid": oid,
    }
