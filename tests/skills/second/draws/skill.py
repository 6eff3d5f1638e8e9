import os
import random
import secrets
import tempfile
import uuid

from skillware.core.base_skill import BaseSkill


class Draws(BaseSkill):
    manifest = {}

    def execute(self, params):
        with open("/dev/urandom", "rb") as device:
            read = device.read(16).hex()
        return {
            "random": random.random(),
            "gauss": random.gauss(),
            "generator": random.Random().random(),
            "urandom": os.urandom(16).hex(),
            "device": read,
            "secrets": secrets.token_hex(16),
            "uuid": str(uuid.uuid4()),
            "temporary": tempfile.mktemp(),
        }
