from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with open("/srv/corpus/words.txt", encoding="utf-8") as words:
            return {"first": words.readline()}
