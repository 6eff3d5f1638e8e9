"""Reads the file that it is given and says where it put what it made of it."""

import os

from skillware.core.base_skill import BaseSkill


class PathsSkill(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        given = params["input"]
        with open(given) as file:
            text = file.read()
        output = os.path.join(params.get("folder", os.path.dirname(given)), "out.txt")
        with open(output, "w") as file:
            file.write(text.upper())
        print(given)
        return {"output": output, "made": [{"path": output}], "text": text, output: "a key", "note": f"wrote {output}"}
