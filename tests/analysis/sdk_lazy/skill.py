from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        text = params.get("text", "")
        if params.get("deep"):
            try:
                import anthropic
            except ImportError:
                return {"grade": "unknown", "text": text}
            return {"grade": anthropic.Anthropic().messages.create(model="m", max_tokens=9, messages=[]).content}
        return {"grade": "plain", "text": text}
