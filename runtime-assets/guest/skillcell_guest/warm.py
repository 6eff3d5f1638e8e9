"""Calls before the image is taken, so that caches are warm in it: compiled patterns, specialised bytecode."""

from skillcell_guest import call, failure

#: CPython specialises a piece of bytecode after it ran a few times.
_TIMES = 12


def skill(params):
    """Calls a second instance, so that the one in the image is as it was constructed. Gives what came of it, as text."""
    try:
        for _ in range(3):
            instance = call.skill_class()
            call.check_json(instance.execute(params))
    except Exception as error:
        return f"{failure.type_name(error)}: {failure.message(error)}"
    return "ok"


def way_in_and_out():
    """Rehearses a call's own steps with a skill that does nothing."""
    kept = call.skill
    for _ in range(_TIMES):
        rehearse()
    call.skill = kept


def rehearse():
    """A call without the skill: what every call does."""
    call.skill = _Nothing
    call.enter()


class _Nothing:
    @staticmethod
    def execute(params):
        return {"ok": True, "n": 1, "list": ["a", 1.5, None]}
