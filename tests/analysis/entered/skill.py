from dataclasses import dataclass
from skillware.core.base_skill import BaseSkill


@dataclass
class Model:
    name: str

    def __post_init__(self):
        self.path = self.name + ".pt"

    def __enter__(self):
        import torch

        self.model = torch.load(self.path)
        return self

    def __exit__(self, *error):
        return False


class Case(BaseSkill):
    def execute(self, params):
        with Model("small") as model:
            return {"out": model.model(params["text"])}
