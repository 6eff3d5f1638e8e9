import cv2
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"size": cv2.imread(params["image"]).shape}
