from concurrent.futures import ThreadPoolExecutor
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with ThreadPoolExecutor() as pool:
            return {"sum": sum(pool.map(abs, params.get("values", [])))}
