"""A script of a skill's folder: what of it is in an image, and one run of it in a call, as `python3 scripts/x.py` would.

`load` runs while an image is made, and nothing of the folder runs in it: what the script imports from elsewhere is
imported, the folder's own files are compiled. `enter` is what the host calls. In a call the folder is the working folder;
its own modules are executed anew, from the code that is here if their text is still the same.
"""

import atexit
import contextlib
import gc
import importlib
import importlib.machinery
import io
import itertools
import os
import sys
import time
import types
import warnings
import weakref

from skillcell_guest import call, door, failure, imports, patterns, skill_folder, watch

#: The folder, the script's path in it, and its code (None if it could not be compiled: the call says why).
_folder = _path = _code = None
#: By absolute path: the text of a file of the folder, and its code.
_compiled = {}
#: The module that code without a file runs in.
_kept = None
#: What compiling had to say; Python says it each time.
_warned = []
#: How many modules there were before the script ran.
_modules = 0
#: Compiles lines as they are typed, and remembers their `from __future__ import`.
_compile_line = None


def load(folder, path, preload):
    """Gives the report of the bake. Without `preload` it is the call itself that follows, and nothing is done ahead."""
    global _code, _modules
    started = time.perf_counter()
    before = set(sys.modules)
    manifest = call.manifest = skill_folder.manifest(folder, path)
    read, names = set(), set()
    if preload:
        own, foreign = skill_folder.scan(folder, path)
        # Before the folder is where modules are looked for: a module of Python's must not find one of the same name there.
        os.chdir(folder)
        with imports.recorded() as names, watch.environment_reads() as read:
            for module, wanted in foreign:
                _import_quietly(module, wanted)
    enter_folder(folder, path)
    # As on standard input: what is no UTF-8 comes through a script as it was.
    sys.stdout.reconfigure(errors="surrogateescape")
    if preload:
        _compile_all(own)
        patterns.compile_ahead(text for text, _ in _compiled.values())
        _code = _compiled.get(os.path.join(folder, path), (None, None))[1]
    _modules = len(sys.modules)
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
    _forget_shadowed(sys.path[0])


def _forget_shadowed(place):
    """A module beside the script is found before one of the same name that is loaded already, unless that is part of the interpreter."""
    fixed = (importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter)
    for entry in os.listdir(place):
        name = entry.removesuffix(".py")
        if name == entry and not os.path.isfile(os.path.join(place, entry, "__init__.py")):
            continue
        if name in sys.modules and not name.startswith("__") and not any(one.find_spec(name) for one in fixed):
            for loaded in [other for other in sys.modules if other == name or other.startswith(name + ".")]:
                del sys.modules[loaded]


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
        goes_on = False
        if extra is not None:
            goes_on = bool(extra.get("session"))
            os.environ.update(extra.get("env") or {})
            if extra.get("deny_imports"):
                imports.deny(extra["deny_imports"])
        code = _rehearsed or params.get("code")
        _hand_over(*run_program(params.get("argv") or [], code, params.get("interactive"), goes_on, params.get("called")))
        if not goes_on and _rehearsed is None:
            let_go()
    except BaseException as error:  # the host tells the caller, whatever it was
        call.tell_of_modules()
        failure.hand_over(error)


def run_program(argv, code, interactive=False, goes_on=False, called=None):
    """Runs the script to its end as Python does; gives its exit status, and the exception that it ended with. No status means
    that the code, which is typed line by line, is only a beginning. `called` is the script's path as it was written."""
    status, error = 0, None
    try:
        if not _execute(argv, code, interactive, called):
            status = None
    except SystemExit as end:
        status, error = _status(end), end
    except BaseException as raised:
        status, error = 1, raised
        if isinstance(raised, KeyboardInterrupt):
            status = 130
        _show(raised)
    if not goes_on:
        _at_exit()
    elif interactive:
        _write_out()  # nobody says when the last line was typed
    call._flush()
    try:
        return status, error
    finally:
        # The frames of its traceback lead back to this one: with the exception in it, all of them are a cycle, and a collection that comes
        # before `_write_out` closes their files unwritten.
        error = None


def _execute(argv, code, interactive, called):
    """Gives whether there was something whole to run."""
    global _kept
    if code is not None:
        # In a session the cell goes on, and with it the names that earlier code left.
        main = _kept = _kept if _kept is not None and code is not _rehearsed else types.ModuleType("__main__")
        shown = "" if interactive else "-c"
        program = _typed(code) if interactive else code
        if isinstance(program, str):
            program = compile(code, "<string>", "exec", dont_inherit=True)
        if program is None:
            return False
    else:
        main = types.ModuleType("__main__")
        shown, place = called or _path, os.path.join(_folder, _path)
        main.__file__, main.__cached__ = place, None
        main.__loader__ = _Loader("__main__", place)
        program = _program(place)
    main.__builtins__ = sys.modules["builtins"]
    sys.modules["__main__"] = main
    sys.argv = [shown, *argv]
    exec(program, main.__dict__)
    return True


def _typed(code):
    """Code as it is typed: an expression's value is shown. None if more lines have to follow."""
    global _compile_line
    if _compile_line is None:
        import codeop

        _compile_line = codeop.CommandCompiler()
    return _compile_line(code, "<stdin>", "single")


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
        # What no C `long` can hold is -1 there.
        return (end.code if -(1 << 63) <= end.code < 1 << 63 else -1) & 0xFF
    with contextlib.suppress(Exception):
        print(end.code, file=sys.stderr)
    return 1


def _show(error):
    """As Python shows an exception that nobody caught, without our own frames."""
    trace = error.__traceback__ = failure.without_ours(error.__traceback__)
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


def _at_exit():
    """Threads that are no daemons are waited for, and what was registered for the end runs, as with Python's own."""
    if _rehearsed is not None:
        return
    threading = sys.modules.get("threading")
    if threading is not None:
        with contextlib.suppress(BaseException):
            threading._shutdown()
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()


def let_go():
    """The end of an interpreter: nothing holds the script's objects any more, so that files that were left open are written, and
    finalizers run. Modules that something else still holds are emptied, as Python does."""
    global _kept
    with contextlib.suppress(BaseException):
        _kept = None
        atexit._clear()
        held = _forget_modules()
        _write_out()
        gc.collect()
        left = [module for module in (reference() for reference in held) if isinstance(module, types.ModuleType)]
        for module in left:
            _empty(module.__dict__)
        if left:
            gc.collect()
    call._flush()


def _write_out():
    """What files were not written of. In a cycle their parts are finalized in the order in which they were made, the descriptor first."""
    made = gc.get_objects()
    for kinds in ((io.TextIOWrapper,), (io.BufferedWriter, io.BufferedRandom)):
        for one in made:
            if type(one) in kinds:
                with contextlib.suppress(Exception):
                    one.flush()


def _forget_modules():
    """Takes the script, the folder's modules and what the script put there itself out of the table; gives weak references to them."""
    late = list(itertools.islice(sys.modules.items(), _modules, None))
    own = [name for name, module in late if _is_of_script(module)]
    held = []
    for name in ["__main__", *own]:
        with contextlib.suppress(TypeError):  # a script may put anything there
            held.append(weakref.ref(sys.modules.pop(name, None)))
    return held


def _is_of_script(module):
    try:
        place = getattr(module, "__file__", None)
        return str(place or "").startswith(_folder + "/") or getattr(module, "__spec__", None) is None
    except Exception:  # it is no module of anybody else
        return True


def _empty(namespace):
    for private in (True, False):
        for name in list(namespace):
            if name != "__builtins__" and (not private or name.startswith("_") and not name.startswith("__")):
                namespace[name] = None


def _hand_over(status, error):
    call.tell_of_modules()
    if status is None:
        door.send(door.GIVE, b'"incomplete"')
    elif status == 0:
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
    global _modules
    for _ in range(12):
        rehearse()
        _practise_arguments()
    # What practice imported is no more the script's than what was there before: no run has to look through it at its end.
    _modules = len(sys.modules)


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
