from xmlrpc.client import ServerProxy
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"sum": ServerProxy("https://rpc.example.org/RPC2").add(params["a"], params["b"])}
