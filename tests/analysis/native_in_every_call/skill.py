from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"text": self._prepare(params)}

    def _prepare(self, params):
        import fitz

        return fitz.open(params["path"]).load_page(0).get_text()
