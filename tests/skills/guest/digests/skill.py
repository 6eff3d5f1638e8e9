"""What `hashing` makes, in a cell; and how `pbkdf2_hmac` refuses."""

import hashlib

import hashing

from skillware.core.base_skill import BaseSkill

WRONG = {
    "password": ("sha256", 5, b"salt", 1),
    "text": ("sha256", "password", b"salt", 1),
    "salt": ("sha256", b"password", 5, 1),
    "rounds": ("sha256", b"password", b"salt", 0),
    "length": ("sha256", b"password", b"salt", 1, 0),
    "name": ("sha257", b"password", b"salt", 1),
}


def refused(arguments):
    try:
        return hashlib.pbkdf2_hmac(*arguments).hex()
    except (TypeError, ValueError) as error:
        return type(error).__name__


class Digests(BaseSkill):
    manifest = {}

    def execute(self, params):
        return {"digests": hashing.digests(), "refused": {name: refused(arguments) for name, arguments in WRONG.items()}}
