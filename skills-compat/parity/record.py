#!/usr/bin/env python3
"""Fills in what the cases in `cases.json` give outside any sandbox.

    python3 -m venv v && v/bin/pip install skillware==0.6.0 && v/bin/python skills-compat/parity/record.py

Skills with packages of their own need those too, and only their cases are then recorded:

    v/bin/pip install biopython 'python-pptx>=1' 'rembg>=2' onnxruntime fastembed 'trafilatura>=2' lxml-html-clean 'web3>=6' pymupdf
    v/bin/python skills-compat/parity/record.py 'bio/*' 'creative/*' '*novelty*' '*proxy*' '*tx_handler*' '*pdf*' '*context_opt*'

Each case runs in its own process, twice, with different hash seeds: what differs is noted as nondeterministic,
and so is what a case lists as `changing`: times, and the text of errors that come from the network.
"""

import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

CASES = pathlib.Path(__file__).with_name("cases.json")

ONE_CASE = """
import json, sys
from skillware.core.loader import SkillLoader
case = json.load(sys.stdin)
skill = SkillLoader.load_skill(case["skill"], check_requirements=False)["class"]
try:
    made = skill(config=case["config"]) if "config" in case else skill()
    outcome = {"expected": made.execute(case["params"])}
except Exception as error:
    outcome = {"raises": {"type": type(error).__name__, "message": str(error)}}
try:
    made.validate_params(case["params"])
    outcome["validate_params"] = True
except NameError:
    pass
except ValueError as error:
    outcome["validate_params"] = f"{type(error).__name__}: {error}"
print("\\n" + json.dumps(outcome))
"""


def run(case, seed):
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, **case.get("env", {}), "PYTHONHASHSEED": seed, "HOME": folder + "/home", "TZ": "UTC"}
        os.mkdir(env["HOME"])
        command = [sys.executable, "-c", ONE_CASE]
        done = subprocess.run(command, input=json.dumps(case), env=env, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{case['id']}: {done.stderr}")
        text = done.stdout.splitlines()[-1].replace(env["HOME"], "{{HOME}}").replace(folder, "{{WORK}}")
    return json.loads(text)


def differences(one, other, path=""):
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], f"{path}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other)):
            yield from differences(*pair, f"{path}/{index}")
    elif one != other:
        yield path


def main():
    cases = json.loads(CASES.read_text())
    for case in cases:
        if len(sys.argv) > 1 and not any(fnmatch.fnmatch(case["id"], pattern) for pattern in sys.argv[1:]):
            continue
        for key in ("expected", "raises", "validate_params", "nondeterministic"):
            case.pop(key, None)
        one, other = run(case, "0"), run(case, "7")
        case.update(one)
        found = sorted({*differences(one.get("expected"), other.get("expected")), *case.get("changing", [])})
        if found:
            case["nondeterministic"] = found
    CASES.write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
