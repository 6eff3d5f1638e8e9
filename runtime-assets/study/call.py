"""Loads a skill as Skillware does, calls it so many times, and prints the median of the calls' times.

    python skillcell_call.py FOLDER PARAMS TIMES
"""

import contextlib
import io
import json
import sys
import time

from skillware.core.loader import SkillLoader

folder, params, times = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
skill = SkillLoader.load_skill(folder, check_requirements=False)["class"]()
taken = []
with contextlib.redirect_stdout(io.StringIO()):
    for _ in range(times):
        started = time.perf_counter()
        with contextlib.suppress(Exception):
            json.dumps(skill.execute(dict(params)), default=str)
        taken.append(time.perf_counter() - started)
print(json.dumps({"median_ms": sorted(taken)[len(taken) // 2] * 1e3}))
