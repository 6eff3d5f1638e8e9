from skillware.core.base_skill import BaseSkill

from .work import WORK


class Packages(BaseSkill):
    manifest = {}

    def execute(self, params):
        if "package" in params:
            return WORK[params["package"]]()
        import importlib.metadata

        zipped = [d for d in importlib.metadata.distributions(path=["/usr/local/lib/python315.zip"])]
        return {"runtime": sorted(d.name for d in zipped), "tried": sorted(WORK)}
