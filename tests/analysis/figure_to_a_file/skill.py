import matplotlib.pyplot as plt
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        figure, axes = plt.subplots()
        axes.plot(params.get("values", [1, 2]))
        figure.savefig("figure.png")
        return {"ok": True}
