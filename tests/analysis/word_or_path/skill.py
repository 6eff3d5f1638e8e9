from skillware.core.base_skill import BaseSkill

NAMES = {}


def located(kind):
    return NAMES[kind]


class Case(BaseSkill):
    def execute(self, params):
        with open(located("records")) as file:
            found = file.read()
        with open(self.config.get("file") or "settings.json") as file:
            return {"found": found + file.read()}
