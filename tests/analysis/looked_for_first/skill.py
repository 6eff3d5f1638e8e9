import importlib.util
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        text = params.get("text", "")
        if importlib.util.find_spec("tiktoken") is not None:
            import tiktoken

            return {"tokens": len(tiktoken.get_encoding("cl100k_base").encode(text))}
        return {"tokens": len(text) // 4}
