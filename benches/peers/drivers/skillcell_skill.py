"""Skills in cells: the demo skills of this repository, which have the same work in them."""

import json
import os

import skillcell
from driving import drive

DEMO = os.environ["SKILLCELL_DEMO"]
host = skillcell.Host()
nothing = host.skill(f"{DEMO}/nothing")
kernels = host.skill(f"{DEMO}/kernels")


def call(work):
    if work["name"] == "nothing":
        host.call(nothing, {}).raise_for_outcome()
        return "0"
    return json.dumps(host.call(kernels, {"kernel": work["name"]}).result)


drive(call)
