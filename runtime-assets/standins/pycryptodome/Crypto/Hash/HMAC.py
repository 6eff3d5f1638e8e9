"""Message authentication with any hash of this package."""

import hmac

from Crypto.Hash import MD5


class HMAC:
    def __init__(self, key, msg=b"", digestmod=None):
        self._digestmod = digestmod or MD5
        self._hmac = hmac.new(bytes(key), None, lambda data=b"": self._digestmod.new(bytes(data)))
        self.digest_size = self._hmac.digest_size
        if msg:
            self.update(msg)

    def update(self, msg):
        self._hmac.update(bytes(msg))
        return self

    def digest(self):
        return self._hmac.digest()

    def hexdigest(self):
        return self._hmac.hexdigest()

    def verify(self, mac_tag):
        if not hmac.compare_digest(self.digest(), bytes(mac_tag)):
            raise ValueError("MAC check failed")

    def hexverify(self, hex_mac_tag):
        self.verify(bytes.fromhex(hex_mac_tag))


def new(key, msg=b"", digestmod=None):
    return HMAC(key, msg, digestmod)
