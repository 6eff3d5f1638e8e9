"""What runs while an image is made. Each function ends by handing a report, or an exception, to the host."""

import json
import os
import time

from skillcell_guest import boot, door, failure


def framework():
    """The first image: an interpreter that is ready for skills."""
    _report(lambda: boot.boot() or {})


def environment(values):
    """Sets environment variables before a skill is imported. `values` is JSON."""
    os.environ.update(json.loads(values))


def skill(folder, package):
    """Imports and constructs a skill. For a call without an image this is all: the call follows in the same cell."""
    from skillcell_guest import load

    global _loaded
    _loaded = {}
    _report(lambda: _loaded.update(load.load(folder, package)) or _loaded)


def finish(warm_up):
    """Completes a skill's image. `warm_up` is JSON: example params, or null for those of the manifest."""
    _report(lambda: _finish(json.loads(warm_up)))


def look(folder):
    """No image: what the skill's files say."""
    from skillcell_guest import look

    _report(lambda: look.look(folder))


def _finish(params):
    from skillcell_guest import settle, warm

    report = _loaded
    started = time.perf_counter()
    if params is None:
        manifest = report["manifest"]
        params = manifest.get("warm_up") if isinstance(manifest, dict) else None
    report["warm_up"] = warm.skill(params) if params is not None else None
    warm.way_in_and_out()
    warmed = time.perf_counter()
    settle.settle()
    report["warm_up_ms"] = (warmed - started) * 1e3
    report["settle_ms"] = (time.perf_counter() - warmed) * 1e3
    return report


def _report(work):
    try:
        report = work()
        from skillcell_guest import call, warm

        report["entry"] = id(call.enter)
        report["rehearsal"] = id(warm.rehearse)
        if isinstance(report.get("manifest"), (dict, list)):
            report["manifest"] = _plain(report["manifest"])
        door.send(door.BAKE, json.dumps(report, default=str).encode())
    except BaseException as error:
        failure.hand_over(error)


def _plain(manifest):
    """YAML has more than JSON: dates, numbers that are none, keys that are not text. They become text or are left out."""
    return json.loads(json.dumps(manifest, default=str, skipkeys=True), parse_constant=str)
