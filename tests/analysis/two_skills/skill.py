from skillware.core.base_skill import BaseSkill


class Shouting(BaseSkill):
    def execute(self, params):
        return {"text": self.change(params["text"])}

    def change(self, text):
        return text.upper()


class Whispering(Shouting):
    def change(self, text):
        return text.lower()
