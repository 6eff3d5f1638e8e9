from skillware.core.base_skill import BaseSkill

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


class OptionalPackage(BaseSkill):
    manifest = {}

    def execute(self, params):
        return {"has_onnxruntime": onnxruntime is not None}
