"""Notes what a skill is called with by its tests. Nothing of it is believed: the params are examples, for calls without grants."""

import json
import os
import sys

#: As many calls that differ, each as long as JSON.
_MOST, _LONGEST = 100, 64 << 10


def start(folder):
    """Gives a list that fills with params, as the class in `skill.py` gets them."""
    from skillware.core.base_skill import BaseSkill

    calls, seen = [], set()
    plain = BaseSkill.__dict__.get("__init_subclass__")

    def noted(execute):
        def noting(self, params=None, *words, **more):
            _note(params, calls, seen)
            return execute(self, params, *words, **more)

        return noting

    def subclassed(cls, **words):
        (plain.__get__(None, cls) if plain else super(BaseSkill, cls).__init_subclass__)(**words)
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        if file == os.path.join(folder, "skill.py") and callable(cls.__dict__.get("execute")):
            cls.execute = noted(cls.__dict__["execute"])

    BaseSkill.__init_subclass__ = classmethod(subclassed)
    return calls


def _note(params, calls, seen):
    try:
        text = json.dumps(params, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return
    if isinstance(params, dict) and len(text) <= _LONGEST and len(calls) < _MOST and text not in seen:
        seen.add(text)
        calls.append(json.loads(text))
