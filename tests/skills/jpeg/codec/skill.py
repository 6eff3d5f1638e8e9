import io
import time

import pictures
from PIL import Image, ImageFile, features
from skillware.core.base_skill import BaseSkill


class Codec(BaseSkill):
    manifest = {}

    def execute(self, params):
        if "side" in params:
            return self._measured(params["side"], params.get("options", {}))
        return {
            "cases": dict(pictures.cases()),
            "failures": dict(pictures.failures()),
            "repaired": self._repaired(),
            "features": [features.check("jpg"), features.version("jpg"), features.check("libjpeg_turbo")],
            "file": self._through_a_file(),
        }

    def _repaired(self):
        file = pictures.written(pictures.picture("photo", "RGB", 67, 45))
        ImageFile.LOAD_TRUNCATED_IMAGES = True
        try:
            return pictures.read(file[: len(file) // 2])
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = False

    def _through_a_file(self):
        """Pillow writes to a real file by its number."""
        pictures.picture("photo", "RGB", 67, 45).save("/tmp/picture.jpg", quality=90)
        with Image.open("/tmp/picture.jpg") as image:
            image.thumbnail((20, 20))
            return [image.format, image.info["jfif_version"], pictures.digest(image.tobytes())]

    def _measured(self, side, options):
        """For docs/reference/guest.md: megapixels in a second, of a square of so many pixels."""
        tile, image = pictures.picture("photo", "RGB", 128, 128), Image.new("RGB", (side, side))
        for left in range(0, side, 128):
            for top in range(0, side, 128):
                image.paste(tile, (left, top))
        began = time.perf_counter()
        file = pictures.written(image, **options)
        written = time.perf_counter()
        Image.open(io.BytesIO(file)).load()
        read = time.perf_counter()
        speeds = (side * side / 1e6 / seconds for seconds in (written - began, read - written))
        return dict(zip(("write", "read"), (round(speed, 2) for speed in speeds)), bytes=len(file))
