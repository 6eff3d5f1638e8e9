import pictures
from PIL import Image, ImageFile, features
from skillware.core.base_skill import BaseSkill


class Codec(BaseSkill):
    manifest = {}

    def execute(self, params):
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
