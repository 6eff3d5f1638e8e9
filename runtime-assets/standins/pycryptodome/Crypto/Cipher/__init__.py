"""Ciphers: AES."""
