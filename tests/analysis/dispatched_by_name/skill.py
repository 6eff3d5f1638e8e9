from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return getattr(self, "do_" + params["action"])(params)

    def do_count(self, params):
        return {"n": len(params["text"])}

    def do_speak(self, params):
        import pyarrow

        return {"said": str(pyarrow.array([1]))}
