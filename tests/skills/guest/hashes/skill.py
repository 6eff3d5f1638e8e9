"""What OpenSSL does elsewhere: keys from passwords."""

import hashlib
import hmac

from _hashlib import HASH
from skillware.core.base_skill import BaseSkill


class Hashes(BaseSkill):
    @property
    def manifest(self):
        return {"name": "hashes", "version": "0.1.0"}

    def execute(self, params):
        return {
            # RFC 7914, section 11.
            "sha256": hashlib.pbkdf2_hmac("sha256", b"Password", b"NaCl", 80000, 64).hex(),
            # RFC 6070.
            "sha1": hashlib.pbkdf2_hmac("sha1", b"passwordPASSWORDpassword", b"saltSALTsaltSALTsaltSALTsaltSALTsalt", 4096, 25).hex(),
            "type": isinstance(hashlib.sha256(), HASH),
            "hmac": hmac.new(b"key", b"text", "sha256").hexdigest(),
        }
