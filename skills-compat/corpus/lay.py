"""Lays out the folders with a `SKILL.md` and Python that the packages in `pins.json` carry, for `skillcell matrix`:

    python3 lay.py FOLDER      FOLDER/skills/<package>/<name>; what was fetched stays in FOLDER/archives

Packages are fetched by name, version and hash, and only read. A script that is in several skills, byte by byte, is laid out in each of them.
"""

import argparse
import pathlib
import shutil

import fetch


def skills(work):
    """Each folder with a `SKILL.md` and Python: its package, its name, and its files by their paths in it."""
    for pin, archive in fetch.archives(work / "archives"):
        found = fetch.files(pin | {"take": ["*"]}, archive)
        roots = sorted(name.rpartition("/")[0] for name in found if name.rpartition("/")[2] == "SKILL.md")
        for root in roots:
            inside = {name.removeprefix(root + "/"): data for name, data in found.items() if name.startswith(root + "/")}
            if any(name.endswith(".py") for name in inside):
                yield pin["name"], root.rpartition("/")[2], inside


def lay(work):
    shutil.rmtree(work / "skills", ignore_errors=True)
    taken = set()
    for package, name, inside in skills(work):
        folder, number = work / "skills" / package / name, 2
        while folder in taken:
            folder, number = folder.with_name(f"{name}-{number}"), number + 1
        taken.add(folder)
        for path, data in inside.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
    return taken


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    print(f"{len(lay(parser.parse_args().work))} skills")
