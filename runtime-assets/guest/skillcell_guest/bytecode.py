"""Compiles a zip of Python sources, for the runtime whose standard library comes without bytecode. Run once per runtime."""

import importlib._bootstrap_external as external
import zipfile

#: Parts that drive JavaScript or a window, and the test of `python -m __phello__`; a cell can use none of them. `ssl` is a stub that
#: refuses to connect: without it the stand-in is found, as on the other runtime.
_LEFT_OUT = ("ssl.py", "_ssl.py", "pyodide/", "_pyodide/", "__phello__/", "site-packages/", "idlelib/", "lib2to3/")


def compile_zip(source, target):
    """Nothing in it is compressed, since it is read more often than it is moved."""
    with zipfile.ZipFile(source) as sources, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as compiled:
        for name in sorted(sources.namelist()):
            if name.endswith("/") or name.startswith(_LEFT_OUT):
                continue
            text = sources.read(name)
            _write(compiled, name, text)
            if name.endswith(".py"):
                _write(compiled, name + "c", _bytecode(text, f"{source}/{name}"))


def _bytecode(text, name):
    """Found by its content and never held against the source, which is beside it for tracebacks."""
    code = compile(text, name, "exec", dont_inherit=True, optimize=0)
    return external._code_to_hash_pyc(code, bytes(8), False)


def _write(archive, name, data):
    archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
