from concurrent.futures import ProcessPoolExecutor
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with ProcessPoolExecutor() as pool:
            return {"sum": list(pool.map(abs, params["values"]))}
