"""Its result is all brackets, each deeper than the one before."""

from skillcell_guest import call
from skillware.core.base_skill import BaseSkill


class Deep(BaseSkill):
    manifest = {}

    def execute(self, params):
        depth = params.get("depth", 7_900_000)
        call._encode = lambda result: "[" * depth + "]" * depth
