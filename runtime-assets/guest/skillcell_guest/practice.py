"""Practises before an image is taken, with the libraries that the skill has imported: requests, with an answer of our own,
pictures, and the check of params.

What a library imports, reads, compiles and specialises with its first use is then in the image, instead of being
done anew in every call. Nothing reaches the host: for the time being, the bridge is answered here.
"""

import contextlib
import importlib
import io
import logging
import sys

from skillcell_guest import bridge
from skillcell_guest.standins import network

#: CPython specialises a piece of bytecode after it ran a few times.
_TIMES = 8
_HOST = "practice.invalid"
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nServer: practice\r\n"
    b"Connection: keep-alive\r\nContent-Length: 15\r\n\r\n{\"ok\": [1, 2.5]}"
)


def practise():
    ways = (("requests", _requests), ("httpx", _httpx), ("urllib.request", _urllib), ("PIL.Image", _pillow), ("jsonschema", _jsonschema), ("click", _click), ("typer", _typer))
    for library, way in ways:
        if library in sys.modules:
            # Whatever a skill made of a library: this is not the call that has to tell of it.
            with contextlib.suppress(Exception), _bridge_answered_here():
                way(sys.modules[library])


def _requests(requests):
    if requests.get.__module__ != "requests.api":
        return
    importlib.import_module("netrc")
    for scheme in ("http", "https"):
        for _ in range(_TIMES):
            requests.get(f"{scheme}://{_HOST}/v1/x", params={"q": "1"}, timeout=5).json()
            requests.post(f"{scheme}://{_HOST}/v1/x", json={"a": 1}, headers={"X": "y"}, timeout=5).raise_for_status()


def _httpx(httpx):
    if httpx.get.__module__ != "httpx":
        return
    import asyncio

    async def together():
        async with httpx.AsyncClient() as client:
            await asyncio.gather(*(client.get(f"{scheme}://{_HOST}/v1/x") for scheme in ("http", "https")))

    for _ in range(_TIMES):
        httpx.get(f"http://{_HOST}/v1/x", params={"q": "1"}).json()
        httpx.post(f"https://{_HOST}/v1/x", json={"a": 1}).raise_for_status()
        asyncio.run(together())


def _urllib(request):
    # It keeps what it makes at the first request, and looks at the environment then.
    kept, request._opener = request._opener, None
    try:
        for _ in range(_TIMES):
            request.urlopen(request.Request(f"http://{_HOST}/v1/x", headers={"X": "y"}), timeout=5).read()
    finally:
        request._opener = kept


def _pillow(image):
    """Our JPEG codec is in Python, and imports numpy."""
    picture = image.linear_gradient("L").resize((40, 40)).convert("RGB")
    for _ in range(_TIMES):
        file = io.BytesIO()
        picture.save(file, "JPEG")
        image.open(file).load()


def _jsonschema(jsonschema):
    """At its first check it reads all vocabularies."""
    for _ in range(_TIMES):
        with contextlib.suppress(jsonschema.ValidationError):
            jsonschema.validate({"a": "x"}, {"type": "object", "properties": {"a": {"type": "integer"}}})


def _click(click):
    @click.command()
    @click.option("--count", default=1, help="How many.")
    @click.argument("name")
    def command(count, name):
        """A command."""

    for _ in range(_TIMES):
        _told_usage(command)


def _typer(typer):
    """It imports rich at the first usage."""

    def command(name: str, count: int = 1, loud: bool = False):
        """A command."""

    for _ in range(3):
        app = typer.Typer()
        app.command()(command)
        _told_usage(app)


def _told_usage(command):
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        command(["--help"], standalone_mode=False)


@contextlib.contextmanager
def _bridge_answered_here():
    real, names, level = bridge._ask, dict(network._names), logging.root.manager.disable
    bridge._ask = _Answers().ask
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        bridge._ask = real
        logging.disable(level)
        network._names.clear()
        network._names.update(names)


class _Answers:
    """As the host would answer, if every request got the same answer."""

    def __init__(self):
        self._last, self._under_way = 0, set()

    def ask(self, kind, payload):
        if kind == bridge.NAME:
            return b"192.0.2.1"
        if kind == bridge.OPEN:
            self._last += 1
            return self._last.to_bytes(4, "little")
        if kind == bridge.WAIT:
            numbers = [payload[at : at + 4] for at in range(4, len(payload), 4)]
            return bytes(bridge.READABLE if number in self._under_way else bridge.IDLE for number in numbers)
        if kind == bridge.WRITE:
            self._under_way.add(payload[:4])
        if kind == bridge.READ:
            if payload[:4] not in self._under_way:
                raise bridge.NothingUnderWay
            self._under_way.discard(payload[:4])
            return _ANSWER
        return b""
