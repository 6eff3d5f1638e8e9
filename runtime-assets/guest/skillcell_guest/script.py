"""A script of a skill's folder: what of it is in an image, and one run of it in a call, as `python3 scripts/x.py` would.

`load` runs while an image is made, and nothing of the folder runs in it: what the script imports from elsewhere is
imported, the folder's own files are compiled. `enter` is what the host calls. In a call the folder is the working folder;
its own modules are executed anew, from the code that is here if their text is still the same.
"""

import atexit
import contextlib
import importlib
import importlib.machinery
import io
import os
import sys
import time
import types
import warnings

from skillcell_guest import call, door, failure, imports, skill_folder, watch

#: The folder, the script's path in it, and its code (None if it could not be compiled: the call says why).
_folder = _path = _code = None
#: By absolute path: the text of a file of the folder, and its code.
_compiled = {}
#: The module that code without a file runs in.
_kept = None
#: What compiling had to say; Python says it each time.
_warned = []


def load(folder, path, preload):
    """Gives the report of the bake. Without `preload` it is the call itself that follows, and nothing is done ahead."""
    global _code
    started = time.perf_counter()
    before = set(sys.modules)
    manifest = call.manifest = skill_folder.manifest(folder, path)
    enter_folder(folder, path)
    place = os.path.join(folder, path)
    read, names = set(), set()
    if preload:
        own, foreign = skill_folder.scan(folder, path)
        _compile_all(own)
        _code = _compiled.get(place, (None, None))[1]
        with imports.recorded() as names, watch.environment_reads() as read:
            for module, wanted in foreign:
                _import_quietly(module, wanted)
    return {
        "manifest": manifest,
        "imported": sorted(name for name in set(sys.modules) - before if "." not in name),
        "import_ms": (time.perf_counter() - started) * 1e3,
        "import_names": sorted(names),
        "environment_read": sorted(read),
        "entry": id(enter),
        "rehearsal": id(rehearse),
    }


def enter_folder(folder, path):
    """Makes it the working folder, with its modules to be imported: first those beside the script, last those at its root."""
    global _folder, _path
    _folder, _path = folder, path
    sys.path.insert(0, os.path.dirname(os.path.join(folder, path)))
    if folder not in sys.path:
        sys.path.append(folder)
    os.chdir(folder)


def _compile_all(files):
    for file in files:
        place = os.path.join(_folder, file)
        try:
            with open(place, "rb") as source:
                text = source.read()
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("default", SyntaxWarning)
                _compiled[place] = text, compile(text, place, "exec", dont_inherit=True)
            _warned.extend((place, one) for one in told if issubclass(one.category, SyntaxWarning))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            pass  # the call meets it again, and says so
    finders = {os.path.dirname(place) for place in _compiled} | {os.path.dirname(os.path.join(_folder, _path)), _folder}
    for place in finders:
        sys.path_importer_cache[place] = importlib.machinery.FileFinder(
            place,
            (_Loader, importlib.machinery.SOURCE_SUFFIXES),
            (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
        )


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a file of the folder. It was compiled before, unless its text has changed since."""

    def get_code(self, name):
        text, code = _compiled.get(self.path, (None, None))
        if code is None or self.get_data(self.path) != text:
            return super().get_code(name)
        _warn_again(self.path)
        return code


def _import_quietly(module, names):
    """What fails, or prints, or ends, is left for the call to meet."""
    before, quiet = set(sys.modules), io.StringIO()
    try:
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet), warnings.catch_warnings():
            found = importlib.import_module(module)
            for name in names:
                if not hasattr(found, name):
                    with contextlib.suppress(ImportError):
                        importlib.import_module(f"{module}.{name}")
    except MemoryError:
        raise
    except BaseException:
        return
    if quiet.tell():
        for name in set(sys.modules) - before:
            sys.modules.pop(name, None)


def _warn_again(place):
    for where, told in _warned:
        if where == place:
            warnings.showwarning(told.message, told.category, told.filename, told.lineno)


def enter():
    try:
        params, extra = call._take()
        call._reseed()
        if extra is not None:
            os.environ.update(extra.get("env") or {})
            if extra.get("deny_imports"):
                imports.deny(extra["deny_imports"])
        _hand_over(*run_program(params.get("argv") or [], _rehearsed or params.get("code")))
    except BaseException as error:  # the host tells the caller, whatever it was
        call.tell_of_modules()
        failure.hand_over(error)


def run_program(argv, code):
    """Runs the script to its end as Python does; gives its exit status, and the exception that it ended with."""
    status, error = 0, None
    try:
        _execute(argv, code)
    except SystemExit as end:
        status, error = _status(end), end
    except BaseException as raised:
        status, error = 1, raised
        if isinstance(raised, KeyboardInterrupt):
            status = 130
        _show(raised)
    _at_exit()
    call._flush()
    return status, error


def _execute(argv, code):
    global _kept
    if code is not None:
        # In a session the cell goes on, and with it the names that earlier code left.
        main = _kept = _kept if _kept is not None and code is not _rehearsed else types.ModuleType("__main__")
        shown = "-c"
        program = compile(code, "<string>", "exec", dont_inherit=True) if isinstance(code, str) else code
    else:
        main = types.ModuleType("__main__")
        shown, place = _path, os.path.join(_folder, _path)
        main.__file__, main.__cached__ = place, None
        main.__loader__ = _Loader("__main__", place)
        program = _program(place)
    main.__builtins__ = sys.modules["builtins"]
    sys.modules["__main__"] = main
    sys.argv = [shown, *argv]
    exec(program, main.__dict__)


def _program(place):
    """The script's code. A file that was laid over it since has other text."""
    if _code is not None:
        with open(place, "rb") as file:
            if file.read() == _compiled[place][0]:
                _warn_again(place)
                return _code
    with open(place, "rb") as file:
        return compile(file.read(), place, "exec", dont_inherit=True)


def _status(end):
    """What `sys.exit(x)` means to the shell; text is printed."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    with contextlib.suppress(Exception):
        print(end.code, file=sys.stderr)
    return 1


def _show(error):
    """As Python shows an exception that nobody caught, without our own frames."""
    trace = error.__traceback__ = _without_ours(error.__traceback__)
    if isinstance(error, ModuleNotFoundError) and sys.excepthook is sys.__excepthook__:
        # Python's own words end in advice on how the interpreter was started, which is our doing.
        with contextlib.suppress(BaseException):
            sys.stderr.write(failure.trace(error))
        return
    try:
        sys.excepthook(type(error), error, trace)
    except SystemExit:
        raise
    except BaseException:
        with contextlib.suppress(BaseException):
            sys.__excepthook__(type(error), error, trace)


def _without_ours(trace):
    """The frames of the script and of libraries: what a stand-in raised is raised where it was called."""
    kept = []
    while trace is not None:
        if failure._OWN not in trace.tb_frame.f_code.co_filename:
            kept.append(trace)
        trace = trace.tb_next
    for one, following in zip(kept, [*kept[1:], None]):
        one.tb_next = following
    return kept[0] if kept else None


def _at_exit():
    """What was registered for the end runs at the end, as with Python's own."""
    if _rehearsed is None:
        with contextlib.suppress(BaseException):
            atexit._run_exitfuncs()


def _hand_over(status, error):
    call.tell_of_modules()
    if status == 0:
        door.send(door.GIVE, b"null")
    elif isinstance(error, SystemExit):
        failure.hand_over_exit(status)
    else:
        failure.hand_over(error, status)


def rehearse():
    """A run without the script: what every run does."""
    global _rehearsed, _kept
    kept, argv = sys.modules.get("__main__"), sys.argv
    _rehearsed = _EMPTY
    try:
        enter()
    finally:
        sys.modules["__main__"], sys.argv, _rehearsed, _kept = kept, argv, None, None


_EMPTY = compile("", "<rehearsal>", "exec")
#: What a rehearsal runs instead of the script.
_rehearsed = None


def warm_up():
    """Rehearses a run's own steps, and what most scripts begin with."""
    for _ in range(12):
        rehearse()
        _practise_arguments()


def _practise_arguments():
    argparse = sys.modules.get("argparse")
    if argparse is None:
        return
    quiet = io.StringIO()
    with contextlib.suppress(Exception, SystemExit), contextlib.redirect_stderr(quiet):
        parser = argparse.ArgumentParser(prog="x", description="A script.", epilog="More.")
        parser.add_argument("file", help="a file")
        parser.add_argument("-o", "--output", default="out.json", help="where to (default: %(default)s)")
        parser.add_argument("--count", type=int, choices=[1, 2, 3])
        parser.add_argument("--verbose", action="store_true")
        more = parser.add_subparsers(dest="command")
        more.add_parser("run", help="run it").add_argument("--fast", action="store_true")
        parser.format_help()
        parser.parse_args(["a", "--count", "2", "run", "--fast"])
