"""Loads a skill as Skillware does, makes a recorded call so many times, and prints the median of the calls' times.

    python skillcell_call.py FOLDER CASE TIMES

A call that does not succeed ends it: a failure is not what is measured.
"""

import contextlib
import copy
import io
import json
import sys
import time

import skillcell_recorded as recorded
from skillware.core.loader import SkillLoader

folder, case, times = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
skill = SkillLoader.load_skill(folder, check_requirements=False)["class"]
recorded.answer(case)
taken = []
with contextlib.redirect_stdout(io.StringIO()):
    made = skill(config=case["config"]) if "config" in case else skill()
    for _ in range(times):
        params = copy.deepcopy(case["params"])
        started = time.perf_counter()
        result = made.execute(params)
        json.dumps(result, default=str)
        taken.append(time.perf_counter() - started)
        if recorded.how_it_ended(result) != "succeeds":
            sys.exit(f"the call does not succeed: {json.dumps(result, default=str)[:300]}")
print(json.dumps({"median_ms": sorted(taken)[len(taken) // 2] * 1e3}))
