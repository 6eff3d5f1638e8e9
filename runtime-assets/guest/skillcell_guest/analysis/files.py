"""A skill's files: which are Python, which are native code, and which one a module name means."""

import io
import os
import sys
import zipfile

#: How native code begins, whatever the file is called.
_MAGIC = {
    b"\x7fELF": "ELF",
    b"MZ": "PE",
    b"\xfe\xed\xfa\xce": "Mach-O",
    b"\xfe\xed\xfa\xcf": "Mach-O",
    b"\xce\xfa\xed\xfe": "Mach-O",
    b"\xcf\xfa\xed\xfe": "Mach-O",
    b"\xca\xfe\xba\xbe": "Mach-O",
    b"!<arch>\n": "static library",
    b"\0asm": "WebAssembly",
}
_LIBRARIES = (".so", ".pyd", ".dylib", ".dll", ".exe", ".a", ".o", ".lib", ".node")
_SOURCES = (".pyx", ".pxd", ".c", ".cc", ".cpp", ".cxx", ".rs", ".go", ".f90", ".cu")
_MOST_NATIVE, _MOST_NAMES, _LARGEST_ARCHIVE = 200, 2000, 64 << 20


class Files:
    def __init__(self, folder, package):
        self._folder, self._package = folder, package
        self._sizes = dict(self._walk())
        self._all = set(self._sizes)
        self._folders = {""}
        for path in self._all:
            while "/" in path:
                path = path.rpartition("/")[0]
                self._folders.add(path)
        self._search = [""]
        if self._changes_the_path():
            self._search = sorted(self._folders)
        self._native = None

    def _changes_the_path(self):
        """A skill that does may import from any of its folders; which, only running it would tell."""
        for path, size in self.python_files():
            if size < _LARGEST_ARCHIVE and (b"sys.path" in (text := self.read(path)) or b"addsitedir" in text):
                return True
        return False

    def _walk(self):
        for root, folders, names in os.walk(self._folder):
            folders.sort()
            below = os.path.relpath(root, self._folder)
            for name in sorted(names):
                path = os.path.join(root, name)
                yield name if below == "." else f"{below}/{name}", os.path.getsize(path)

    def read(self, path):
        with open(os.path.join(self._folder, path), "rb") as file:
            return file.read()

    def python_files(self):
        """`skill.py` first: if there are too many, it is the others that are not read."""
        paths = [path for path in self._sizes if path.endswith((".py", ".pyw"))]
        for path in sorted(paths, key=lambda path: (path != "skill.py", path.count("/"), path)):
            yield path, self._sizes[path]

    def native(self):
        """Native code in the folder: path, what it is, and of an archive which modules it has."""
        if self._native is None:
            self._native = []
            for path in sorted(self._sizes):
                if len(self._native) < _MOST_NATIVE and (found := self._as_native(path)):
                    self._native.append([path, *found])
        return self._native

    def _as_native(self, path):
        name = path.rpartition("/")[2].lower()
        with open(os.path.join(self._folder, path), "rb") as file:
            start = file.read(8)
        for magic, kind in _MAGIC.items():
            if start.startswith(magic) and (kind != "PE" or name.endswith((".pyd", ".dll", ".exe")) or b"\0" in start):
                return kind, []
        if name.endswith(_LIBRARIES) or ".so." in name:
            return "library", []
        if name.endswith(_SOURCES):
            return "source", []
        if name.endswith((".whl", ".egg")) or (start.startswith(b"PK\x03\x04") and name.endswith(".zip")):
            return self._archive(path)

    def _archive(self, path):
        if self._sizes[path] > _LARGEST_ARCHIVE:
            return "archive too large to read", []
        try:
            with zipfile.ZipFile(io.BytesIO(self.read(path))) as archive:
                names = archive.namelist()[:_MOST_NAMES]
        except Exception:
            return "archive that can't be read", []
        tops = sorted({name.partition("/")[0].removesuffix(".py") for name in names if name.endswith(".py")})
        if any(name.lower().endswith(_LIBRARIES) for name in names):
            return "archive with native code", tops[:50]
        return ("wheel" if path.endswith(".whl") else "archive"), tops[:50]

    def module(self, name, level, importer):
        """The files that importing this runs, outermost package first; `None` if it is not one of the skill's."""
        if level:
            base = importer
            for _ in range(level):
                if not base:
                    return None
                base = base.rpartition("/")[0]
            return self._below(base, name.split(".") if name else [])
        if name == self._package or name.startswith(self._package + "."):
            rest = name[len(self._package) + 1 :]
            return self._below("", rest.split(".")) if rest else ["__init__.py"]
        if name.startswith("skills.") and name.count(".") >= 3:  # as the registry spells it, wherever the folder lies
            rest = name.split(".")[3:]
            if self._package.endswith(name.split(".")[2]):
                return self._below("", rest)
        outside = name.partition(".")[0] in sys.stdlib_module_names
        for base in self._search[:1] if outside else self._search:
            if found := self._below(base, name.split(".")):
                return found
        return None

    def _below(self, base, parts):
        ran = []
        path = base
        for at, part in enumerate(parts):
            path = f"{path}/{part}" if path else part
            last = at == len(parts) - 1
            if path in self._folders:
                if f"{path}/__init__.py" in self._all:
                    ran.append(f"{path}/__init__.py")
                elif last and not ran and not self._holds_code(path):
                    return None
            elif f"{path}.py" in self._all:
                return [*ran, f"{path}.py"] if last else None
            elif built := self._built(path):
                return [*ran, built] if last else None
            else:
                return None
        return ran or ([path + "/"] if parts else [f"{base}/__init__.py" if base else "__init__.py"])

    def _holds_code(self, folder):
        return any(path.startswith(folder + "/") and path.endswith((".py", ".so", ".pyd", ".pyx")) for path in self._all)

    def _built(self, path):
        """A module that is native code, or the source of such."""
        for other in self._all:
            if other.startswith(path + ".") and "/" not in other[len(path) :] and (
                other.endswith((".so", ".pyd", ".pyx", ".c", ".cpp", ".rs"))
            ):
                return other
        return None

    def named(self, names):
        """Files with code whose own name is one of these."""
        endings = (".py", ".so", ".pyd")
        return [path for path in sorted(self._all) if path.endswith(endings) and path.rpartition("/")[2] in names]
