import sqlite3

from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        connection = sqlite3.connect(params["database"])
        return {"rows": connection.execute("select count(*) from rows").fetchone()[0]}
