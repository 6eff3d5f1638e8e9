"""A program that keeps skillcell's container contract by itself: one JSON object in, one out.

It could be in any language; docs/reference/container-contract.md says all that it has to know.
"""

import json
import os
import sys



def answer(request):
    text = request["params"].get("text")
    if not isinstance(text, str):
        return {"raised": {"type": "TypeError", "message": "`text` is not a string", "traceback": ""}}
    return {"returned": {"words": len(text.split()), "ran_in": "a container of its own", "user": os.getuid()}}


print(json.dumps({"skillcell": 1, **answer(json.load(sys.stdin))}))
