import pytesseract
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"text": pytesseract.image_to_string(params["image"])}
