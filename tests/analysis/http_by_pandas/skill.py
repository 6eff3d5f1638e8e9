import pandas as pd

SOURCE = "https://data.example.org/prices.csv"
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"rows": len(pd.read_csv(SOURCE))}
