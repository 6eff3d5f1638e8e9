import ftplib
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        if params.get("cached"):
            return {"names": params["cached"]}
        with ftplib.FTP("files.example.org") as server:
            return {"names": server.nlst()}
