"""Hashes, ciphers and persistent collections."""

import random

import rpds
from Crypto.Cipher import AES
from Crypto.Hash import HMAC, SHA3_256, SHA256, keccak
from Crypto.Protocol.KDF import PBKDF2, scrypt
from Crypto.Util import Counter
from Crypto.Util.Padding import pad, unpad


def work():
    random.seed(4)
    found = {"keccak": {}, "aes": [], "keys": [], "collections": []}
    for size in (0, 1, 135, 136, 137, 300):
        data = random.randbytes(size)
        found["keccak"][size] = [keccak.new(data=data, digest_bits=bits).hexdigest() for bits in (224, 256, 384, 512)]
    # FIPS 197, appendix C.
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    for size in (16, 24, 32):
        key, iv, data = bytes(range(size)), random.randbytes(16), random.randbytes(50)
        counter = Counter.new(128, initial_value=int.from_bytes(iv, "big"))
        padded = pad(data, 16)
        found["aes"] += [
            AES.new(key, AES.MODE_ECB).encrypt(plain).hex(),
            AES.new(key, AES.MODE_CBC, iv=iv).encrypt(padded).hex(),
            AES.new(key, AES.MODE_CTR, counter=counter).encrypt(data).hex(),
            unpad(AES.new(key, AES.MODE_CBC, iv=iv).decrypt(AES.new(key, AES.MODE_CBC, iv=iv).encrypt(padded)), 16) == data,
        ]
    found["keys"] = [
        # RFC 7914, section 12, the first two cases of scrypt, the second with a smaller p.
        scrypt("", "", 64, N=16, r=1, p=1).hex(),
        scrypt("password", "NaCl", 64, N=1024, r=8, p=1).hex(),
        PBKDF2("password", b"salt", 40, count=50, hmac_hash_module=SHA256).hex(),
        HMAC.new(b"key", b"text", SHA3_256).hexdigest(),
    ]
    trie = rpds.HashTrieMap({"a": 1}).insert("b", 2)
    found["collections"] = [
        sorted(trie.items()), sorted(trie.remove("a")), sorted(trie.update({"c": 3})), trie == rpds.HashTrieMap(b=2, a=1),
        list(rpds.List([1, 2]).push_front(0)), repr(rpds.List([1, 2]).rest), sorted(rpds.HashTrieSet([1]).insert(2)),
        list(rpds.Queue([1, 2]).enqueue(3).dequeue()),
    ]
    return found
