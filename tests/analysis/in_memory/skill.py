import base64
import io
from PIL import Image
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        image = Image.open(io.BytesIO(base64.b64decode(params["png"])))
        out = io.BytesIO()
        image.convert("L").save(out, format="PNG")
        return {"png": base64.b64encode(out.getvalue()).decode()}
