from Crypto.Hash._standard import module

globals().update(module("md5", "1.2.840.113549.2.5"))
