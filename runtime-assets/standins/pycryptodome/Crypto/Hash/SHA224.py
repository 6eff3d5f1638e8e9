from Crypto.Hash._standard import module

globals().update(module("sha224", "2.16.840.1.101.3.4.2.4"))
