import os

from skillware.core.base_skill import BaseSkill


class Greeter(BaseSkill):
    @property
    def manifest(self):
        return {"name": "testing/greeter", "version": "0.1.0"}

    def execute(self, params):
        return {"greeting": f"hello {params.get('name', 'nobody')}", "home": os.path.expanduser("~")}
