"""One test file in one cell, as `python -m pytest` would run it: in a registry from the folder above `skills`, for a
skill on its own from its folder."""

import importlib
import os
import shutil
import sys

from skillcell_guest import call, failure, imports
from skillcell_guest.testing import record, report, stand

#: Plugins that are loaded by name: the packs of a cell have no entry points.
_PLUGINS = ("pytest_mock", "pytest_asyncio.plugin", "anyio.pytest_plugin")
#: What pytest ends with when it could not do its work.
_ENDINGS = {3: "pytest failed inside", 4: "pytest does not understand its arguments or its configuration"}


def enter():
    try:
        params, extra = call._take()
        call._reseed()
        if extra is not None:
            os.environ.update(extra.get("env") or {})
            if extra.get("deny_imports"):
                imports.deny(extra["deny_imports"])
        if params["copy_from"]:
            shutil.copytree(params["copy_from"], params["folder"], dirs_exist_ok=True)
        _place(params["folder"], params["registry"])
        if params["packages"]:
            sys.path.append(params["packages"])
        calls = record.start(params["folder"]) if params.get("record") else None
        given = arguments(params["folder"], params["test"], params["color"]) + params["args"]
        status = pytest_run(given, [report.Reporter(params["width"]), *_installed_plugins()])
        call._flush()
        call._give({"status": status, "failure": _ENDINGS.get(status), "calls": calls})
    except BaseException as error:
        call._flush()
        failure.hand_over(error)


def _place(folder, registry):
    """The working folder and `sys.path`. What was mounted after the image was taken is looked at anew."""
    importlib.invalidate_caches()
    sys.path.insert(0, "/" if registry else folder)
    if registry:
        sys.path.append(folder)
    os.chdir("/" if registry else folder)


def _installed_plugins():
    """Those that packages announce. pytest would load them too, and end where one can't be loaded in a cell."""
    from importlib import metadata

    loaded = []
    for point in metadata.entry_points(group="pytest11"):
        try:
            loaded.append(point.load())
        except Exception as error:
            why = f"{failure.type_name(error)}: {failure.message(error)}"
            print(f"the pytest plugin `{point.name}` is left out, it can't be loaded in a cell: {why}", file=sys.stderr)
    return loaded


def arguments(folder, test, color):
    """`test` is a file below `folder`, and may go on with `::` and the name of a test."""
    plugins = [word for name in _PLUGINS for word in ("-p", name)]
    return [
        os.path.join(folder, test),
        f"--rootdir={folder}",
        "--confcutdir=/",
        f"--color={'yes' if color else 'no'}",
        # Descriptors can't be duplicated in a cell; the streams of `sys` can be replaced.
        "--capture=sys",
        # It duplicates the descriptor of stderr, for signals that never come.
        "-p", "no:faulthandler",
        "--disable-plugin-autoload",
        "-o", "cache_dir=/tmp/.pytest_cache",
        *plugins,
    ]  # fmt: skip


def pytest_run(arguments, plugins):
    import pytest

    return int(pytest.main(arguments, plugins=[stand, *plugins]))
