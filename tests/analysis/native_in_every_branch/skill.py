from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        if params.get("engine") == "torch":
            return self._torch(params)
        elif params.get("engine") == "jax":
            return self._jax(params)
        else:
            import tensorflow

            return {"v": tensorflow.__version__}

    def _torch(self, params):
        import torch

        return {"v": torch.__version__}

    def _jax(self, params):
        import jax

        return {"v": jax.__version__}
