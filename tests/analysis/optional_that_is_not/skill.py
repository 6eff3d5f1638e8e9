try:
    import cv2
except ImportError:
    cv2 = None
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        if cv2 is None:
            return {"error": "opencv-python is not installed"}
        return {"size": cv2.imread(params["image"]).shape}
