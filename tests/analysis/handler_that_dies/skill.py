import sys

from skillware.core.base_skill import BaseSkill


def die(message):
    print(f"Error: {message}", file=sys.stderr)
    raise SystemExit(1)


def load():
    try:
        import torch
    except ImportError:
        die("torch is not installed")
    return torch


class Case(BaseSkill):
    def execute(self, params):
        return {"seed": load().initial_seed()}
