import importlib

from skillware.core.base_skill import BaseSkill


class Numbers(BaseSkill):
    manifest = {}

    def execute(self, params):
        if params.get("with") == "jpeg":
            return picture()
        if params.get("with") == "jpeg and numpy":
            return picture_and_numpy()
        if "with" in params:
            importlib.import_module(params["with"])
        if params.get("with") == "numpy":
            import numpy as np

            return int(np.array([1_500_000_000, 900_000_000]).sum())
        if "fail" in params:
            raise ValueError("as asked")


def picture():
    """A JPEG is written and read with a codec of the cell that uses numpy, which the skill does not."""
    import io
    import sys

    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (9, 9), "red").save(file, "JPEG")
    return Image.open(file).getpixel((4, 4))[0] > 250 and "numpy" not in sys.modules


def picture_and_numpy():
    """Whoever imports numpy after that gets all of it."""
    first = picture()
    import numpy.linalg

    return [first, float(numpy.linalg.norm([3.0, 4.0])), numpy.__spec__.name]
