import io
import json
import sys

import pandas as pd
from PIL import Image

frame = pd.read_csv("table.csv")
frame.describe().to_csv("described.csv")
Image.new("RGB", (4, 2), (1, 2, 3)).save("dot.png")
print(json.dumps({"sum": int(frame["a"].sum()), "size": Image.open("dot.png").size}))
