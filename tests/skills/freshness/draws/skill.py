import os
import random
import secrets
import tempfile
import uuid

import numpy
from skillware.core.base_skill import BaseSkill


class Draws(BaseSkill):
    manifest = {}

    def execute(self, params):
        return {
            "random": random.random(),
            "randbytes": random.randbytes(8).hex(),
            "uuid4": str(uuid.uuid4()),
            "uuid1": str(uuid.uuid1()),
            "token": secrets.token_hex(),
            "urandom": os.urandom(16).hex(),
            "numpy": float(numpy.random.rand()),
            "default_rng": float(numpy.random.default_rng().random()),
            "own_generator": random.Random().random(),
            "temporary_name": tempfile.mktemp(),
        }
