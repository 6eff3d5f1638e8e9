from skillware.core.base_skill import BaseSkill

from . import helper
from .helper import answer
from .parts.deep import depth


class RelativeImports(BaseSkill):
    manifest = {}

    def execute(self, params):
        from skills.guest.relative_imports.helper import answer as by_full_name

        return {"answer": answer(), "same": by_full_name is answer is helper.answer, "depth": depth()}
