#!/usr/bin/env python3
"""Fills in what the cases in `cases.json` give outside any sandbox.

    python3 -m venv v && v/bin/pip install skillware==0.6.0 && v/bin/python skills-compat/parity/record.py

Skills with packages of their own need those too; ids that are named are the only ones recorded:

    v/bin/pip install biopython 'python-pptx>=1' 'trafilatura>=2' lxml-html-clean 'web3>=6' pymupdf google-genai
    v/bin/pip install 'rembg>=2' onnxruntime fastembed
    v/bin/python skills-compat/parity/record.py 'bio/*' 'creative/*' '*novelty*' '*proxy*' 'defi/*' '*pdf*' '*context_opt*'

Each case runs in its own process, twice, with different hash seeds: what differs is noted as nondeterministic,
and so is what a case lists as `changing`: times, and the text of errors that come from the network.
Requests are answered from `http`, as `runtime-assets/study/recorded.py` does it. `ends` is how the call ended; a case
that is `not_recorded` says why there is no such call.
"""

import fnmatch
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE / "cases.json"

ONE_CASE = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import recorded
from skillware.core.loader import SkillLoader
case = json.load(sys.stdin)
skill = SkillLoader.load_skill(case["skill"], check_requirements=False)["class"]
requests = recorded.answer(case)
try:
    made = skill(config=case["config"]) if "config" in case else skill()
    outcome = {"expected": made.execute(json.loads(json.dumps(case["params"])))}
except Exception as error:
    outcome = {"raises": {"type": type(error).__name__, "message": str(error)}}
outcome["ends"] = recorded.how_it_ended(outcome["expected"]) if "expected" in outcome else "raises"
if case.get("http"):
    outcome["http_requests"] = list(requests)
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
        home, skills = folder + "/home", skills_folder()
        os.mkdir(home)
        for name, source in case.get("files", {}).items():
            shutil.copy(HERE / "files" / source, f"{folder}/{name}")
        text = json.dumps(case).replace("{{WORK}}", folder).replace("{{HOME}}", home).replace("{{SKILLS}}", skills)
        env = {**os.environ, **json.loads(text).get("env", {}), "PYTHONHASHSEED": seed, "HOME": home, "TZ": "UTC"}
        command = [sys.executable, "-c", ONE_CASE, str(HERE.parents[1] / "runtime-assets/study")]
        done = subprocess.run(command, input=text, env=env, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{case['id']}: {done.stderr}")
        text = done.stdout.splitlines()[-1]
        for place, name in ((home, "{{HOME}}"), (folder, "{{WORK}}"), (skills, "{{SKILLS}}")):
            text = text.replace(place, name)
    return json.loads(text)


def skills_folder():
    import skills

    return os.path.dirname(skills.__file__)


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
        if "not_recorded" in case:
            continue
        for key in ("expected", "raises", "validate_params", "nondeterministic", "http_requests", "ends"):
            case.pop(key, None)
        one, other = run(case, "0"), run(case, "7")
        case.update(one)
        found = sorted({*differences(one.get("expected"), other.get("expected")), *case.get("changing", [])})
        if found:
            case["nondeterministic"] = found
    CASES.write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
