from Crypto.Hash._standard import module

globals().update(module("sha384", "2.16.840.1.101.3.4.2.2"))
