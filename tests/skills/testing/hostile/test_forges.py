"""Frames that a test sends by itself, around what pytest reports."""

import json

import _host


def refused(frame):
    try:
        _host.call(frame)
    except Exception:
        return True
    return False


def test_what_is_no_event_is_refused():
    for text in ("", "{}", "[1]", "\xff", '{"finished": {"id": 1}}', '{"finished": {"id": "a", "outcome": "won", "ms": 1}}'):
        assert refused(b"R" + text.encode("latin-1"))
    assert refused(b"R" + json.dumps({"collected": ["x" * (2 << 20)]}).encode())


def test_text_is_shown_and_not_obeyed():
    print("\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m")
    assert False, "\x1b[2Jgone"


def test_says_what_it_likes():
    told = {"id": "\u202etest_forged", "outcome": "failed", "ms": -1, "error": {"type": "E", "message": "m", "line": None}}
    _host.call(b"R" + json.dumps({"finished": told}).encode())
