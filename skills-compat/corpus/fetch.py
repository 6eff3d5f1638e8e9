"""Fetches the packages that `pins.json` names into a folder, by name, version and hash. Nothing of them is run: npm and pip
only download, and archives are read, not installed."""

import hashlib
import json
import pathlib
import subprocess
import tarfile
import zipfile
from fnmatch import fnmatchcase

PINS = pathlib.Path(__file__).with_name("pins.json")
_LARGEST_FILE = 1 << 20


def archives(folder):
    """Each pinned package with the path of its archive, downloaded if it is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for pin in json.loads(PINS.read_text()):
        path = folder / pin["file"]
        if not path.exists():
            _download(pin, folder)
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != pin["sha256"]:
            raise SystemExit(f"error: {path.name} has the SHA-256 {found}, not {pin['sha256']}")
        yield pin, path


def _download(pin, folder):
    wanted = f"{pin['name']}@{pin['version']}" if pin["from"] == "npm" else f"{pin['name']}=={pin['version']}"
    command = {
        "npm": ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", ".", wanted],
        "pip": ["python3", "-I", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-d", ".", wanted],
    }[pin["from"]]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def files(pin, path):
    """The regular files of an archive that are wanted: name to bytes. Names are a stranger's: those that lead out are left."""
    names = lambda name: ".." not in name.split("/") and not name.startswith("/")  # noqa: E731
    wanted = lambda name: any(fnmatchcase(name, pattern) for pattern in pin["take"]) and names(name)  # noqa: E731
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            listed = [one for one in archive.infolist() if wanted(one.filename) and one.file_size < _LARGEST_FILE]
            return {one.filename: archive.read(one) for one in listed if not one.is_dir()}
    with tarfile.open(path) as archive:
        listed = [one for one in archive if one.isfile() and wanted(one.name) and one.size < _LARGEST_FILE]
        return {one.name: archive.extractfile(one).read() for one in listed}
