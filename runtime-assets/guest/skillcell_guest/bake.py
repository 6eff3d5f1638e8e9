"""What runs while an image is made. Each function ends by handing a report, or an exception, to the host."""

import contextlib
import gc
import json
import os
import sys
import time

from skillcell_guest import boot, door, examples, failure

#: Taken before any skill could put something else in its place.
_loads, _dumps = json.loads, json.dumps
#: Bounds of a report: a manifest is for people, and ends where they would stop reading.
_DEEPEST, _LONGEST = 40, 1 << 20


def framework():
    """The first image: an interpreter that is ready for skills."""
    _report(lambda: boot.boot() or {})


def environment(values):
    """Sets environment variables before a skill is imported. `values` is JSON."""
    os.environ.update(_loads(values))


def deny_imports(names):
    """Denies imports before a skill is imported. `names` is JSON."""
    from skillcell_guest import imports

    imports.deny(_loads(names))


def skill(folder, package, watched):
    """Imports and constructs a skill. For a call without an image this is all: the call follows in the same cell.
    `watched` is JSON: modules of stand-ins that the skill may import."""
    from skillcell_guest import call, load

    global _loaded
    call.watched += tuple(_loads(watched))
    _loaded = {}
    _report(lambda: _loaded.update(load.load(folder, package)) or _loaded)


def script(folder, path, watched, preload):
    """Gets a script of a skill's folder ready; nothing of the folder runs. `watched` is JSON, as for `skill`."""
    from skillcell_guest import call, script

    global _loaded
    call.watched += tuple(_loads(watched))
    _loaded = {}
    _report(lambda: _loaded.update(script.load(folder, path, preload == "yes")) or _loaded)


def finish_script():
    """Completes a script's image."""
    _report(_finish_script)


def _finish_script():
    from skillcell_guest import practice, script, settle
    from skillcell_guest.standins import plots

    started = time.perf_counter()
    practice.practise()
    plots.tidy()
    _close_archives()
    script.warm_up()
    warmed = time.perf_counter()
    settle.settle()
    return _loaded | {"warm_up_ms": (warmed - started) * 1e3, "settle_ms": (time.perf_counter() - warmed) * 1e3}


def practise(warm_up, recorded):
    """Completes what needs no call of the skill. Reports calls to warm the image by: `warm_up` is JSON, params from the operator
    or null; `recorded` too, a list of params that the skill's tests called it with."""
    _report(lambda: _loaded | {"calls": _practised(_loads(warm_up), _loads(recorded))})


def settle():
    """Completes a skill's image."""
    _report(_settled)


def look(folder):
    """No image: what the skill's files say."""
    from skillcell_guest import look

    _report(lambda: look.look(folder))


def look_script(folder, path):
    """The same of a script in a skill's folder."""
    from skillcell_guest import look

    _report(lambda: look.look_script(folder, path))


def analyse(folder, package, skipped):
    """No image: what the skill's code would need. `skipped` is JSON: files to leave alone."""
    from skillcell_guest import analysis

    _report(lambda: analysis.facts(folder, package, set(_loads(skipped))))


def try_imports(wanted):
    """No image: what becomes of importing packages. `wanted` is JSON: modules, and pairs of a module and a name in it."""
    from skillcell_guest.analysis import tried

    _report(lambda: tried.tried(*_loads(wanted)))


def _practised(given, recorded):
    from skillcell_guest import imports, practice, warm
    from skillcell_guest.standins import plots

    started = time.perf_counter()
    with imports.recorded() as names:
        practice.practise()
        plots.tidy()
        _close_archives()
        warm.way_in_and_out()
    _loaded["import_names"] = sorted({*_loaded["import_names"], *names})
    _loaded["practice_ms"] = (time.perf_counter() - started) * 1e3
    return examples.calls(given, _loaded["manifest"], recorded)


def _close_archives():
    """`importlib.metadata` keeps each zip of the path open that it looked into; a file that is left open would have every call
    import the skill anew."""
    metadata = sys.modules.get("importlib.metadata")
    if metadata is not None:
        with contextlib.suppress(Exception):  # whatever a skill made of it
            metadata.FastPath.__new__.cache_clear()
        gc.collect()


def _settled():
    from skillcell_guest import settle

    started = time.perf_counter()
    settle.settle()
    _loaded["settle_ms"] = (time.perf_counter() - started) * 1e3
    return _loaded


def _report(work):
    try:
        report = work()
        from skillcell_guest import call, warm

        report.setdefault("entry", id(call.enter))
        report.setdefault("rehearsal", id(warm.rehearse))
        text = _dumps(_plain(report)).encode()
        if len(text) > _LONGEST:
            raise ValueError(f"the manifest is too long: what there is to report takes {len(text)} bytes as JSON")
        door.send(door.BAKE, text)
    except BaseException as error:
        failure.hand_over(error)


def _plain(value, depth=0):
    """YAML has more than JSON: dates, numbers that are none, keys that are not text, loops. They become text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if depth > _DEEPEST:
        return "..."
    if isinstance(value, dict):
        return {_key(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(item, depth + 1) for item in value]
    return str(value)


def _key(key):
    """As `json.dumps` would have it, where it would."""
    return _plain(key) if isinstance(key, str) else _dumps(key) if isinstance(key, (bool, type(None))) else str(key)
