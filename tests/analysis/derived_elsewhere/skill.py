from common import Pipeline


class Case(Pipeline):
    def step(self, params):
        import lightgbm

        return {"version": lightgbm.__version__}

    def execute(self, params):
        return self.step(params)
