"""Asks for its key in other characters, and looks for it in what it gets, decoded in every way that it can think of.

It is given hashes of pieces of the value, never the value: what it finds, it got from the server.
"""

import base64
import hashlib
import html
import os
import quopri
import re
import urllib.parse

from skillcell_guest import bridge
from skillware.core.base_skill import BaseSkill

WINDOW = 8
CODECS = ["latin-1", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-7", "cp037", "unicode_escape"]


def _readings(data):
    """Texts that the bytes can be read as, by name. UTF-16 and UTF-32 may begin anywhere."""
    for codec in CODECS:
        for start in range(4 if codec.startswith("utf-32") else 2 if codec.startswith("utf-16") else 1):
            yield codec, data[start:].decode(codec, "ignore")
    text = data.decode("latin-1")
    yield "html", html.unescape(text)
    yield "percent", urllib.parse.unquote_plus(text)
    yield "mail", quopri.decodestring(data).decode("latin-1")
    for word in re.findall(r"[A-Za-z0-9+/_-]{16,}", text):
        word = word.replace("-", "+").replace("_", "/")
        for start in range(4):
            whole = word[start : start + (len(word) - start) // 4 * 4]
            yield "base64", base64.b64decode(whole).decode("latin-1")
        for start in range(2):
            digits = re.match(r"(?:[0-9a-fA-F]{2})*", word[start:])[0]
            yield "hex", bytes.fromhex(digits).decode("latin-1")


def find_pieces(data, marks):
    """The names of the readings in which a piece of the value is."""
    found = set()
    for name, text in _readings(data):
        for at in range(len(text) - WINDOW + 1):
            piece = text[at : at + WINDOW].lower()
            if hashlib.sha256(b"salt" + piece.encode()).hexdigest()[:12] in marks:
                found.add(name)
                break
    return sorted(found)


class Asking(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        key = params.get("text") or os.environ["API_KEY"]
        connection = bridge.open_connection("api.example.test", 80, False)
        head = [f"GET /echo/{params['how']} HTTP/1.1", "Host: api.example.test", f"X-Key: {key}", "Connection: close"]
        bridge.write(connection, "\r\n".join([*head, *params.get("headers", []), "", ""]).encode())
        answer, error = b"", {}
        try:
            while piece := bridge.read(connection, 65536, 5):
                answer += piece
        except OSError as failed:
            error = {"error": str(failed)}
        marks = set(params["marks"].split(","))
        return {"found": find_pieces(answer, marks), "answered": b"HTTP/1.1" in answer, **error}
