from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        action = params.get("action")
        if action == "train":
            import torch

            return {"version": torch.__version__}
        if action == "boost":
            import xgboost

            return {"version": xgboost.__version__}
        raise ValueError(f"unknown action {action}")
