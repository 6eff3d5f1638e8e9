"""A pytest plugin: what tests find on a computer and a cell has otherwise.

`capfd` captures what goes through `sys.stdout` and `sys.stderr`, which is all that Python code prints; what is written
to the descriptors themselves is not seen by it. Options of plugins that measure or spread tests out are taken and mean
nothing, so that a project's own `addopts` don't stop its tests.
"""

import warnings

import pytest
from _pytest.capture import CaptureFixture, CaptureManager, SysCapture, SysCaptureBinary

#: (option, takes a value)
_IDLE_OPTIONS = (
    ("--cov", True), ("--cov-report", True), ("--cov-config", True), ("--cov-fail-under", True),
    ("--cov-append", False), ("--cov-branch", False), ("--no-cov", False), ("-n --numprocesses", True), ("--dist", True),
    ("--timeout", True), ("--timeout-method", True), ("--benchmark-disable", False), ("--benchmark-skip", False), ("--reruns", True),
)  # fmt: skip
_IDLE_SETTINGS = ("timeout", "timeout_method")
_MARKERS = (
    "timeout(seconds): a limit for one test; in a cell the file has one",
    "flaky: run again; in a cell it is not",
)


def pytest_addoption(parser):
    group = parser.getgroup("skillcell", "taken, and without effect in a cell")
    for names, has_value in _IDLE_OPTIONS:
        more = {"nargs": "?", "action": "append"} if has_value else {"action": "store_true"}
        # pytest keeps short options for itself in the public function; pytest-xdist adds `-n` by this one too.
        _unless_known(group._addoption, *names.split(), dest=f"skillcell_idle_{names.split()[-1][2:]}", **more)
    for name in _IDLE_SETTINGS:
        _unless_known(parser.addini, name, "taken, and without effect in a cell")


def _unless_known(add, *words, **options):
    try:
        add(*words, **options)
    except ValueError:  # the plugin itself is there
        pass


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # pytest-asyncio's, before warnings are captured, on every run of a project without that setting.
    warnings.filterwarnings("ignore", message='The configuration option "asyncio_default_fixture_loop_scope" is unset')
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)


@pytest.fixture
def capfd(request):
    yield from _captured(request, SysCapture)


@pytest.fixture
def capfdbinary(request):
    yield from _captured(request, SysCaptureBinary)


def _captured(request, kind):
    manager: CaptureManager = request.config.pluginmanager.getplugin("capturemanager")
    fixture = CaptureFixture(kind, request, _ispytest=True)
    manager.set_fixture(fixture)
    fixture._start()
    yield fixture
    fixture.close()
    manager.unset_fixture()
