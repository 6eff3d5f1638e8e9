"""Records what a Pillow with libjpeg-turbo gives for the pictures of `tests/skills/jpeg/codec`: `expected.json`.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install pillow==13.0.0
    /tmp/venv/bin/python tests/jpeg/record.py
"""

import json
import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../skills/jpeg/codec"))
# The fixture is a skill; of Skillware it only needs the name of its base.
base = types.ModuleType("skillware.core.base_skill")
base.BaseSkill = object
sys.modules |= {"skillware": types.ModuleType("skillware"), "skillware.core": types.ModuleType("core"), base.__name__: base}

import skill  # noqa: E402
from PIL import features  # noqa: E402

assert features.check("libjpeg_turbo"), "this Pillow has no libjpeg-turbo"
expected = skill.Codec().execute({})
del expected["features"]
with open(os.path.join(HERE, "expected.json"), "w") as file:
    json.dump(expected, file, indent=0)
    file.write("\n")
print(len(expected["cases"]), "cases with libjpeg-turbo", features.version("libjpeg_turbo"))
