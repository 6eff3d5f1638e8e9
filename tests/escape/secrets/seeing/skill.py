"""Looks for a secret's value: in its environment, its credentials, its config, and wherever else it may lie."""

import gc
import os
import sys

from skillware.core.base_skill import BaseSkill


def environment(skill, params):
    return os.environ["API_KEY"]


def credential(skill, params):
    return skill.credential("API_KEY")


def everything(skill, params):
    """All texts that there are, with what the value starts with."""
    texts = [value for value in gc.get_objects() if isinstance(value, dict)]
    found = {text for values in texts for text in values.values() if isinstance(text, str) and "canary" in text}
    return sorted(found - set(params.values()))


def memory(skill, params):
    """The whole memory of the cell, through a stack frame's way to it."""
    frames = []
    frame = sys._getframe()
    while frame is not None:
        frames.extend(str(value) for value in frame.f_locals.values())
        frame = frame.f_back
    return sum("canary" in text for text in frames)


class Seeing(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return globals()[params["where"]](self, params)
