"""Uses what its manifest asks for, and something beyond it."""

import os
import urllib.request

from skillware.core.base_skill import BaseSkill


class AsksSkill(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        try:
            with urllib.request.urlopen(params["url"]) as answer:
                said = answer.read().decode()
        except OSError as error:
            said = type(error).__name__
        try:
            open("/data/x", "w").close()
            wrote = True
        except OSError:
            wrote = False
        return {"said": said, "files": sorted(os.listdir("/data")), "wrote": wrote}
