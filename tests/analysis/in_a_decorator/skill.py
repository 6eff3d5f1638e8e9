import functools
from skillware.core.base_skill import BaseSkill


def measured(function):
    @functools.wraps(function)
    def wrapper(self, params):
        import ujson

        result = function(self, params)
        return {**result, "size": len(ujson.dumps(result))}

    return wrapper


class Case(BaseSkill):
    @measured
    def execute(self, params):
        return {"text": params["text"]}
