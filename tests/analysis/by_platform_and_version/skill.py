import sys

if sys.platform == "win32":
    import winreg
elif sys.platform.startswith("darwin"):
    import objc
if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return tomllib.loads(params.get("text", ""))
