"""Hashes: Keccak in Python, the others from `hashlib`."""
