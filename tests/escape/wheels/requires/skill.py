"""Imports what its requirement brings along: a plain dependency, or what a hostile wheel would have the host fetch and run."""

import importlib

from skillware.core.base_skill import BaseSkill


class Requires(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return importlib.import_module(params["module"]).X
