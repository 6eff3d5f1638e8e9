from skillware.core.base_skill import BaseSkill


class NoSkill:
    pass


assert BaseSkill
