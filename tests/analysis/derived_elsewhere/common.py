from skillware.core.base_skill import BaseSkill as Base


class Pipeline(Base):
    def execute(self, params):
        raise NotImplementedError
