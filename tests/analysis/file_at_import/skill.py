from skillware.core.base_skill import BaseSkill

with open("/etc/hostname", encoding="utf-8") as file:
    HOST = file.read().strip()


class Case(BaseSkill):
    def execute(self, params):
        return {"host": HOST}
