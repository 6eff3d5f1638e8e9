from skillware.core.base_skill import BaseSkill

try:
    from google import genai
except ImportError:
    genai = None


class OptionalPackage(BaseSkill):
    manifest = {}

    def execute(self, params):
        return {"has_genai": genai is not None}
