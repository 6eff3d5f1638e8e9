"""A Python process for each program: as it is, under bubblewrap, or in a container that Podman runs."""

import os
import subprocess
import sys

from driving import drive

PYTHON = os.environ["PEERS_PYTHON"]
ROOT = os.path.dirname(os.path.dirname(PYTHON))
BEFORE = {
    "plain": [PYTHON],
    "bwrap": [
        "bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
        *(word for path in ("/usr", "/lib", "/lib64", ROOT) if os.path.exists(path) for word in ("--ro-bind", path, path)),
        PYTHON,
    ],
    "podman": [
        "podman", "run", "--rm", "--interactive", "--network=none", "--read-only", "--cap-drop=all", "--cgroups=disabled",
        os.environ.get("PEERS_IMAGE", ""), PYTHON,
    ],
}[sys.argv[1]]


def call(work):
    done = subprocess.run([*BEFORE, "-I", "-S", "-"], input=work["text"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


drive(call)
