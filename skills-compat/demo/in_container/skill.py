"""The same skill for tiers that run Python themselves; in the container tier, answer.py takes its place."""

from skillware.core.base_skill import BaseSkill


class InContainer(BaseSkill):
    @property
    def manifest(self):
        return {"name": "demo/in_container", "version": "0.1.0"}

    def execute(self, params):
        return {"words": len(params["text"].split()), "ran_in": "the tier's own Python"}
