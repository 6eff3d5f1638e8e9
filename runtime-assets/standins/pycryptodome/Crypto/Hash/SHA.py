from Crypto.Hash._standard import module

globals().update(module("sha1", "1.3.14.3.2.26"))
