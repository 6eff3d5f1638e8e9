"""A script's working folder outside of cells: a copy of the skill's, and what became of it."""

import base64
import os
import shutil

#: What Python itself leaves there.
_LEFT = "__pycache__"


def copy(folder, work):
    shutil.copytree(folder, work)
    for above, folders, files in os.walk(work):
        for name in [*folders, *files]:
            os.chmod(os.path.join(above, name), 0o755 if name in folders else 0o644)
    os.chmod(work, 0o755)


def files(work, folder):
    """Pairs of a path below the folder and its bytes in base64, of what is not as it was. Links are not followed."""
    found = []
    for above, folders, names in os.walk(work):
        folders[:] = [name for name in folders if name != _LEFT]
        for name in names:
            place = os.path.join(above, name)
            if os.path.islink(place) or not os.path.isfile(place):
                continue
            path = os.path.relpath(place, work)
            data = _read(place)
            if data is not None and data != _read(os.path.join(folder, path)):
                found.append((path, base64.b64encode(data).decode()))
    return sorted(found)


def _read(place):
    try:
        with open(place, "rb") as file:
            return file.read()
    except OSError:
        return None
