"""Reads the part of a JSON text that is complete, where the text may end anywhere."""

import json
import re

_SPACE = re.compile(r"[ \t\n\r]*")
# What may yet become a value when more comes.
_BEGUN = re.compile(r"-?(?:(?:0|[1-9]\d*)?(?:\.\d*)?(?:[eE][+-]?)?)$|[a-zA-Z]{1,7}$|-I[a-z]*$")
_WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")


class End(Exception):
    """The text ended before the value did."""


class Partial:
    def __init__(self, text, decoder, pairs, strings):
        self.text, self.decoder, self.pairs, self.strings = text, decoder, pairs, strings
        self.at = 0

    def read(self):
        try:
            return self.value()
        except End:
            raise self.wrong("EOF while parsing a value", len(self.text)) from None

    def wrong(self, what, at):
        line = self.text.count("\n", 0, at) + 1
        return ValueError(f"{what} at line {line} column {at - self.text.rfind(chr(10), 0, at) - 1}")

    def next(self):
        """The next character that is no space."""
        self.at = _SPACE.match(self.text, self.at).end()
        if self.at >= len(self.text):
            raise End
        return self.text[self.at]

    def value(self):
        character = self.next()
        if character == "[":
            return self.array()
        if character == "{":
            return self.object()
        if character == '"':
            return self.string(self.strings)
        rest = self.text[self.at :]
        try:
            value, end = self.decoder.raw_decode(self.text, self.at)
        except json.JSONDecodeError as problem:
            if _BEGUN.fullmatch(rest) and (not rest[:1].isalpha() or any(word.startswith(rest) for word in _WORDS)):
                raise End from None
            raise self.wrong("expected value", problem.pos + 1) from None
        if end < len(self.text) and self.text[end] in ".eE" and _BEGUN.fullmatch(rest):
            raise End
        self.at = end
        return value

    def string(self, unfinished):
        try:
            value, self.at = json.decoder.scanstring(self.text, self.at + 1)
            return value
        except json.JSONDecodeError as problem:
            rest = self.text[self.at + 1 :]
            if not problem.msg.startswith("Unterminated") and not re.search(r"\\u?[0-9a-fA-F]{0,4}$", rest):
                raise self.wrong(problem.msg, problem.pos + 1) from None
            if not unfinished:
                raise End from None
            self.at = len(self.text)
            start = re.sub(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$", r"\1", rest)
            # Half of a character that takes two is none yet.
            return re.sub(r"[\ud800-\udbff]$", "", json.decoder.scanstring(start + '"', 0)[0])

    def array(self):
        items = []
        self.at += 1
        try:
            if self.next() == "]":
                self.at += 1
                return items
            while True:
                items.append(self.value())
                if self.more("]"):
                    return items
        except End:
            self.at = len(self.text)
            return items

    def object(self):
        found = []
        self.at += 1
        try:
            if self.next() == "}":
                self.at += 1
                return {}
            while True:
                if self.next() != '"':
                    raise self.wrong("key must be a string", self.at + 1)
                key = self.string(False)
                if self.next() != ":":
                    raise self.wrong("expected `:`", self.at + 1)
                self.at += 1
                found.append((key, self.value()))
                if self.more("}"):
                    break
        except End:
            self.at = len(self.text)
        return self.pairs(found)

    def more(self, closing):
        """After an item: whether that was the last."""
        character = self.next()
        self.at += 1
        if character == closing:
            return True
        if character != ",":
            raise self.wrong(f"expected `,` or `{closing}`", self.at)
        if self.next() == closing:
            raise self.wrong("trailing comma", self.at + 1)
        return False
