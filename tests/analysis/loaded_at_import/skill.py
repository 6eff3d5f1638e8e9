def _model():
    import spacy

    return spacy.load("en_core_web_sm")


MODEL = _model()
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"n": len(MODEL(params["text"]))}
