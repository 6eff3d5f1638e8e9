"""Greets someone by name. This is what to replace."""

import os

from skillware.core.base_skill import BaseSkill


class {{class}}(BaseSkill):
    @property
    def manifest(self):
        return self.load_manifest_from_dir(os.path.dirname(__file__))

    def execute(self, params):
        name = params.get("name", "world")
        return {"greeting": f"Hello, {name}!"}
