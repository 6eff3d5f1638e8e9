from engine import Engine
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def __init__(self, config=None):
        super().__init__(config)
        self.engine = Engine()

    def execute(self, params):
        return self.engine.detect(params["image"])
