"""Which packages each list of requirements pulls in, by what is installed here, as it would be in Pyodide.

    python skillcell_closure.py PYTHON_VERSION {"skill": ["requirement", ...]}    prints {"skill": ["package", ...]}
"""

import importlib.metadata
import json
import sys

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

environment = {
    **default_environment(),
    "python_version": sys.argv[1],
    "python_full_version": sys.argv[1] + ".0",
    "sys_platform": "emscripten",
    "platform_system": "Emscripten",
    "platform_machine": "wasm32",
    "os_name": "posix",
}


def closure(requirements):
    found, waiting = {}, [(text, "") for text in requirements]
    while waiting:
        text, extra = waiting.pop()
        try:
            wanted = Requirement(text)
        except InvalidRequirement:
            continue
        if wanted.marker and not wanted.marker.evaluate({**environment, "extra": extra}):
            continue
        name = canonicalize_name(wanted.name)
        new = ({""} | {canonicalize_name(one) for one in wanted.extras}) - found.get(name, set())
        found.setdefault(name, set()).update(new)
        try:
            needs = importlib.metadata.requires(wanted.name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        waiting += [(need, one) for one in new for need in needs]
    return sorted(found)


print(json.dumps({skill: closure(wanted) for skill, wanted in json.loads(sys.argv[2]).items()}))
