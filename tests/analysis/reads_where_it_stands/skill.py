from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with open("words.txt", encoding="utf-8") as words:
            return {"known": params["text"] in words.read().split()}
