"""AES in the modes ECB, CBC and CTR."""

import os

from Crypto.Cipher._aes import decrypt_block, encrypt_block, round_keys

MODE_ECB, MODE_CBC, MODE_CFB, MODE_OFB, MODE_CTR, MODE_OPENPGP = 1, 2, 3, 5, 6, 7
MODE_CCM, MODE_EAX, MODE_SIV, MODE_GCM, MODE_OCB, MODE_KW, MODE_KWP = 8, 9, 10, 11, 12, 13, 14
block_size = 16
key_size = (16, 24, 32)


class _Blocks:
    """ECB, and CBC if there is an `iv`."""

    block_size = 16

    def __init__(self, keys, iv=None):
        self._keys, self._last = keys, iv
        if iv is not None:
            self.iv = self.IV = iv

    def encrypt(self, plaintext):
        result = bytearray()
        for block in _split(plaintext, "encrypt" if self._last is None else "CBC"):
            if self._last is not None:
                block = bytes(a ^ b for a, b in zip(block, self._last))
            block = encrypt_block(block, self._keys)
            if self._last is not None:
                self._last = block
            result += block
        return bytes(result)

    def decrypt(self, ciphertext):
        result = bytearray()
        for block in _split(ciphertext, "decrypt"):
            plain = decrypt_block(block, self._keys)
            if self._last is not None:
                plain = bytes(a ^ b for a, b in zip(plain, self._last))
                self._last = block
            result += plain
        return bytes(result)


class _Counter:
    """CTR: the same in both directions."""

    block_size = 16

    def __init__(self, keys, counter):
        self._keys, self._counter, self._rest = keys, counter, b""
        self._value = counter["initial_value"]
        self.nonce = counter["prefix"]

    def encrypt(self, data):
        data, stream = bytes(data), bytearray(self._rest)
        order = "little" if self._counter["little_endian"] else "big"
        size = self._counter["counter_len"]
        while len(stream) < len(data):
            middle = (self._value % (1 << 8 * size)).to_bytes(size, order)
            stream += encrypt_block(self._counter["prefix"] + middle + self._counter["suffix"], self._keys)
            self._value += 1
        self._rest = bytes(stream[len(data) :])
        return bytes(a ^ b for a, b in zip(data, stream))

    decrypt = encrypt


def _split(data, _):
    if len(data) % 16:
        raise ValueError("Data must be padded to 16 byte boundary in CBC mode" if _ == "CBC" else "Data must be aligned to block boundary in ECB mode")
    return (bytes(data[i : i + 16]) for i in range(0, len(data), 16))


def new(key, mode, *args, **kwargs):
    if len(key) not in key_size:
        raise ValueError("Incorrect AES key length (%d bytes)" % len(key))
    keys = round_keys(bytes(key))
    if mode == MODE_ECB:
        return _Blocks(keys)
    if mode == MODE_CBC:
        iv = kwargs.get("iv", kwargs.get("IV", args[0] if args else None))
        iv = os.urandom(16) if iv is None else bytes(iv)
        if len(iv) != 16:
            raise ValueError("Incorrect IV length (it must be 16 bytes long)")
        return _Blocks(keys, iv)
    if mode == MODE_CTR:
        counter = kwargs.get("counter")
        if counter is None:
            nonce = kwargs.get("nonce")
            nonce = os.urandom(8) if nonce is None else bytes(nonce)
            first = kwargs.get("initial_value", 0)
            if isinstance(first, (bytes, bytearray)):
                first = int.from_bytes(first, "big")
            counter = {"prefix": nonce, "suffix": b"", "counter_len": 16 - len(nonce), "initial_value": first, "little_endian": False}
        return _Counter(keys, counter)
    raise NotImplementedError("not available in a skillcell cell: AES in a mode other than ECB, CBC and CTR")
