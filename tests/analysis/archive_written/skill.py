import zipfile

from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with zipfile.ZipFile("packed.zip", "w") as archive:
            archive.writestr("a.txt", params.get("text", ""))
        return {"ok": True}
