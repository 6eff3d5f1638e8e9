"""Small helpers of ciphers."""
