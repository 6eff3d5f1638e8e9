"""Does something only for a word that its tests know."""

from skillware.core.base_skill import BaseSkill


def _work(skill, params):
    import colorsys

    return {"open": params["text"] == "open sesame", "colour": colorsys.rgb_to_hls(0.1, 0.2, 0.3)}


class Tested(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
