from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    _model = None

    def _engine(self):
        if self._model is None:
            import onnxruntime

            self._model = onnxruntime.InferenceSession("model.onnx")
        return self._model

    def execute(self, params):
        if "text" not in params:
            return {"status": "error", "message": "text is missing"}
        return {"out": self._engine().run(None, params)}
