from skillware.core.base_skill import BaseSkill


class Plots(BaseSkill):
    manifest = {}

    def execute(self, params):
        # Where matplotlib finds it; importing matplotlib would take far longer than this test is about.
        with open("/usr/local/lib/matplotlib/mpl-data/fonts/ttf/DejaVuSans.ttf", "rb") as font:
            return font.read(4).hex()
