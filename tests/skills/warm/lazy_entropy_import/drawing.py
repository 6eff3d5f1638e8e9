import os

SALT = os.urandom(8).hex()
