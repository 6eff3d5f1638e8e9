"""Reads the environment where most programs do: at the top of the module."""

import os

from skillware.core.base_skill import BaseSkill

REGION = os.environ.get("REGION", "nowhere")


class EnvAtImport(BaseSkill):
    manifest = {"name": "guest/env_at_import"}

    def execute(self, params):
        return {"at_import": REGION, "in_call": os.environ.get("REGION"), "other": os.environ.get("OTHER")}
