import contextlib
from skillware.core.base_skill import BaseSkill

with contextlib.suppress(ImportError):
    import lightgbm


class Case(BaseSkill):
    def execute(self, params):
        return {"trees": lightgbm.Booster(model_file=params["path"]).num_trees()}
