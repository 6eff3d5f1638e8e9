import pandas as pd
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        if params["path"].endswith(".parquet"):
            return {"rows": len(pd.read_parquet(params["path"]))}
        return {"rows": len(pd.read_csv(params["path"]))}
