from skillware.core.base_skill import BaseSkill


class InitNotRun(BaseSkill):
    manifest = {}

    def execute(self, params):
        return {"ok": True}


if __name__ == "__main__":
    raise SystemExit("this is for the command line")
