"""Recorded calls of `skills-compat/parity`, as `record.py` there describes them, and servers that answer their requests."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import http.server
import ipaddress
import json
import os
import shutil
import ssl
import threading
import tomllib
import urllib.parse
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
#: Other cases of the same form can be given.
PARITY = Path(os.environ.get("SKILLCELL_PARITY") or REPOSITORY / "skills-compat" / "parity")
PLACES = {"{{WORK}}": "/work", "{{HOME}}": "/home/skill", "{{SKILLS}}": "/skills"}


def recorded_cases() -> list[dict[str, Any]]:
    """Those that were recorded, with the places that they have in a cell."""
    text = (PARITY / "cases.json").read_text()
    # The recorded key is too short to be a secret: it could not be told from ordinary text.
    text = text.replace('_API_KEY": "k"', '_API_KEY": "recorded-key"').replace("apikey=k", "apikey=recorded-key")
    for name, place in PLACES.items():
        text = text.replace(name, place)
    return [case for case in json.loads(text) if "not_recorded" not in case]


def expected_difference(case: dict[str, Any]) -> str | None:
    """Why a case is known to differ in a cell, as `expectations.toml` has it for the matrix."""
    expectations = tomllib.loads((REPOSITORY / "skills-compat" / "expectations.toml").read_text())
    name = case["id"].split("#")[1]
    for entry in expectations["skills"][case["skill"]].get("differs", []):
        if any(fnmatch(name, pattern) for pattern in entry["tests"].split("|")):
            return str(entry["reason"])
    return None


def lay_files(case: dict[str, Any], folder: Path) -> list[str]:
    """Writes a case's files; gives the mount that shows them."""
    for name, source in case.get("files", {}).items():
        shutil.copy(PARITY / "files" / source, folder / name)
    wanted = "files" in case or "/work" in json.dumps([case.get("params"), case.get("env"), case.get("config")])
    return [f"{folder}:/work:rw"] if wanted else []


def without(value: Any, pointers: list[str]) -> Any:
    """A result without the places that differ from run to run."""
    value = json.loads(json.dumps(value))
    for pointer in pointers:
        *path, last = pointer.split("/")[1:] or [""]
        here = value
        for part in path:
            here = here[int(part)] if isinstance(here, list) else here.get(part)
        if pointer == "":
            return None
        if isinstance(here, list) and int(last) < len(here):
            here[int(last)] = None
        elif isinstance(here, dict):
            here.pop(last, None)
    return value


class Answers:
    """Servers on loopback for the origins of a case, and the grants that lead there."""

    def __init__(self, case: dict[str, Any], folder: Path) -> None:
        import trustme

        self.answers: list[dict[str, Any]] = case.get("http", [])
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.servers: list[http.server.ThreadingHTTPServer] = []
        self.allow_http: list[str] = []
        self.resolve: list[str] = []
        self.authority = folder / "authority.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.authority))
        for scheme, host, port in sorted({origin(one["url"]) for one in self.answers}):
            server = self._start(scheme, host, authority)
            self.allow_http.append(f"* {scheme}://{host}:{port}/*")
            self.resolve.append(f"{host}:{port}:127.0.0.1:{server.server_address[1]}")

    def _start(self, scheme: str, host: str, authority: Any) -> http.server.ThreadingHTTPServer:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_for(self, scheme))
        server.daemon_threads = True
        if scheme == "https":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert(host).configure_cert(context)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.servers.append(server)
        return server

    def find(self, method: str, url: str, body: str) -> dict[str, Any]:
        """What is recorded for a request."""
        for one in self.answers:
            same = url.startswith(one["url"]) if one.get("prefix") else url == one["url"]
            if one["method"] == method and same and one.get("asks", "") in body:
                return one
        return {"status": 500, "body": f"{method} {url} is not recorded"}

    def close(self) -> None:
        for server in self.servers:
            server.shutdown()
            server.server_close()


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port."""
    parts = urllib.parse.urlsplit(url)
    assert parts.hostname
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}[parts.scheme]


def is_address(host: str) -> bool:
    """Whether it is a number rather than a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def handler_for(answers: Answers, scheme: str) -> type[http.server.BaseHTTPRequestHandler]:
    """Answers as recorded, and keeps what was asked."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8", "replace")
            url = f"{scheme}://{self.headers['Host']}{self.path}"
            answers.requests.append({"method": self.command, "url": url, "body": body or None})
            answers.headers.append(dict(self.headers.items()))
            found = answers.find(self.command, url, body)
            content = found.get("body", "").encode()
            self.send_response_only(found["status"], "Recorded")
            for name, value in {"Content-Length": str(len(content)), **found.get("headers", {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PUT = do_HEAD = do_DELETE = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
