"""Regular expressions as Rust's `regex` understands them, which pydantic uses unless told otherwise, for Python's `re`.

Where the two agree a pattern is taken as it is; what they mean differently is rewritten (`$` is the very end, `\\s` is
Unicode's white space); the rest is refused, so that nothing matches that the native one would not match.
"""

import re
import unicodedata

from .errors import SchemaError

_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SAME = set("dDwWbBAnrtfva")
#: Kinds of characters that only one of the two takes for a part of a word.
_DOUBTFUL = {"Mn", "Mc", "Me", "No", "Pc", "So", "Cf", "Cn"}


class Pattern:
    """A pattern with `search`; a text on which the two could differ is refused."""

    def __init__(self, pattern):
        self.pattern = pattern
        self._words = self._folds = False
        try:
            self._matcher = re.compile(_Translation(self, pattern).text)
        except re.error as problem:
            raise SchemaError(f"Invalid pattern {pattern!r}: {problem}") from None

    def search(self, text):
        if not text.isascii():
            if self._folds or self._words and any(c > "\x7f" and unicodedata.category(c) in _DOUBTFUL for c in text):
                raise _lacking(self.pattern, "on this text")
        return self._matcher.search(text)


def _lacking(pattern, what):
    return NotImplementedError(f"not available in a skillcell cell: Rust's regular expressions; {pattern!r} may mean something else in Python {what}")


class _Translation:
    def __init__(self, owner, pattern):
        self._owner, self._pattern, self._at, self._lines = owner, pattern, 0, False
        self._class = False
        self.text = "".join(self._pieces())

    def _refuse(self):
        raise _lacking(self._pattern, f"at {self._at}")

    def _next(self):
        char = self._pattern[self._at : self._at + 1]
        self._at += 1
        return char

    def _pieces(self):
        while self._at < len(self._pattern):
            char = self._next()
            if char == "\\":
                yield self._escape()
            elif self._class:
                yield self._in_class(char)
            elif char == "[":
                self._class = True
                yield char
                for allowed in ("^", "]"):
                    if self._pattern.startswith(allowed, self._at):
                        yield "\\]" if self._next() == "]" else "^"
            elif char == "(":
                yield char + self._group()
            elif char == "$":
                yield "$" if self._lines else r"\Z"
            elif char in "*+?}":
                if self._pattern.startswith("+", self._at) or char == "}" and self._pattern.startswith(("{", "*"), self._at):
                    self._refuse()  # possessive in Python
                yield char
            elif char == "{":
                if not re.match(r"\d+(,\d*)?\}", self._pattern[self._at :]):
                    self._refuse()
                yield char
            else:
                yield char

    def _in_class(self, char):
        if char == "[" or self._pattern[self._at - 1 : self._at + 1] in ("&&", "--", "~~"):
            self._refuse()  # sets within sets
        self._class = char != "]"
        return char

    def _group(self):
        if not self._pattern.startswith("?", self._at):
            return ""
        named = re.compile(r"\?P?<([A-Za-z_]\w*)>", re.ASCII).match(self._pattern, self._at)
        if named:
            self._at = named.end()
            return f"?P<{named[1]}>"
        if re.match(r"\?(?:<?[=!]|>|\(|P=|#)", self._pattern[self._at :]):
            raise SchemaError(f"Invalid pattern {self._pattern!r}: look-around, backreferences and comments are not supported")
        flags = re.compile(r"\?([ism]*)([:)])").match(self._pattern, self._at)
        if not flags or "m" in flags[1] and flags[2] == ":" or flags[2] == ")" and self._at != 1:
            self._refuse()
        self._at = flags.end()
        self._lines |= "m" in flags[1]
        self._owner._folds |= "i" in flags[1]
        return flags[0]

    def _escape(self):
        char = self._next()
        if char in ("s", "S"):
            if self._class and char == "S":
                self._refuse()
            return _SPACE if self._class else f"[{'^' if char == 'S' else ''}{_SPACE}]"
        if char in _SAME and not (self._class and char in "bBA"):
            self._owner._words |= char in "wWbB"
            return "\\" + char
        if char == "z" and not self._class:
            return r"\Z"
        size = {"x": 2, "u": 4, "U": 8}.get(char)
        if size and re.fullmatch(rf"[0-9A-Fa-f]{{{size}}}", digits := self._pattern[self._at : self._at + size]):
            self._at += size
            return f"\\{char}{digits}"
        if char and char.isascii() and not char.isalnum() and char not in "<>":
            return "\\" + char
        if char.isdigit() or char in ("", "Z"):
            raise SchemaError(f"Invalid pattern {self._pattern!r}: unknown escape")
        self._refuse()
