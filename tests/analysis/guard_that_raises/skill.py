try:
    import psycopg2
except ImportError as error:
    raise RuntimeError("install psycopg2") from error
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"rows": psycopg2.connect(params["dsn"]).cursor().fetchall()}
