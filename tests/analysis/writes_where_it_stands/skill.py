from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with open("report.txt", "w") as report:
            report.write(params.get("text", ""))
        return {"ok": True}
