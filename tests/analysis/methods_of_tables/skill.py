import pandas as pd

from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        table = pd.read_csv(params["path"]).set_index("date")
        table["when"] = pd.to_datetime("2024-01-01")
        table = table.rename("prices").reset_index("date")
        return {"rows": table.to_dict("records"), "values": table.to_numpy("float64").tolist()}
