"""Python's `re` under the names of `regex`, for what means the same to both. No pattern is translated: one that has anything that is not listed
here is refused, and so is every option and method that `re` does not have."""

import enum
import functools
import re as _re

__version__ = "2026.11.15"
error = _re.error


class RegexFlag(enum.IntFlag):
    """With the values of `regex`, which are not those of `re`."""

    TEMPLATE = T = 0x1
    IGNORECASE = I = 0x2
    LOCALE = L = 0x4
    MULTILINE = M = 0x8
    DOTALL = S = 0x10
    UNICODE = U = 0x20
    VERBOSE = X = 0x40
    ASCII = A = 0x80
    VERSION1 = V1 = 0x100
    DEBUG = D = 0x200
    REVERSE = R = 0x400
    WORD = W = 0x800
    BESTMATCH = B = 0x1000
    VERSION0 = V0 = 0x2000
    FULLCASE = F = 0x4000
    ENHANCEMATCH = E = 0x8000
    POSIX = P = 0x10000


globals().update(RegexFlag.__members__)
DEFAULT_VERSION = RegexFlag.VERSION0
_TAKEN = {RegexFlag.I: _re.I, RegexFlag.M: _re.M, RegexFlag.S: _re.S, RegexFlag.A: _re.A, RegexFlag.U: 0, RegexFlag.V0: 0}
_CHARACTER = r"x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U000[0-9A-Fa-f]{5}|[nrtfva]|[!-/:-@\[-`{-~]"
_PIECES = _re.compile(
    rf"""(?P<kind>\\[dDwWsSb])
    | \\[AZ] | \\[1-9](?![0-9]) | (?P<character>\\(?:{_CHARACTER}))
    | (?P<set>\[\^?(?:[^\\\[\]]|\\(?:[dDwWsS]|{_CHARACTER}))+\])
    | (?P<open>\((?:\?(?:[:=!>]|<[=!]|P<[A-Za-z_][A-Za-z0-9_]*>))?(?!\?)) | \(\?P=[A-Za-z_][A-Za-z0-9_]*\) | (?P<close>\))
    | (?:[*+?]|\{{(?:[0-9]+(?:,[0-9]*)?|,[0-9]+)\}})[?+]?
    | \{{(?=\\)
    | [^\\\[\](){{}}*+?]""",
    _re.VERBOSE,
)
_TEMPLATE = _re.compile(r"(?:[^\\]|\\(?:[\\n]|[1-9](?![0-9])|g<(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]{1,2})>))*")
_OF_MATCH = {"group", "groups", "groupdict", "start", "end", "span", "string", "pos", "endpos", "lastindex", "regs"}
_REFUSED_OF_MATCH = {
    "allcaptures", "allspans", "captures", "capturesdict", "detach_string", "ends", "expandf", "fuzzy_changes", "fuzzy_counts", "lastgroup", "partial", "spans", "starts",
}
_REFUSED = {"Regex", "Scanner", "cache_all", "escape", "prefixmatch", "splititer", "subf", "subfn", "template"}


def _refuse(what):
    raise NotImplementedError(f"not available in a skillcell cell: {what}: `regex` is a stand-in over Python's `re` there")


def _check_pattern(pattern):
    """Refuses what is not known to mean the same; returns whether it asks what kind a character is, and whether it names one outside of ASCII."""
    at, opened, kinds, beyond = 0, [], False, not pattern.isascii()
    while at < len(pattern):
        piece = _PIECES.match(pattern, at)
        if not piece:
            _refuse(f"the pattern {pattern!r} from {at} on")
        text, at = piece[0], piece.end()
        if piece["set"] and _re.search(r"--|&&|\|\||~~", text):
            _refuse(f"the set {text!r}")
        kinds = kinds or bool(piece["kind"] or piece["set"] and _re.search(r"\\[dDwWsS]", text))
        beyond = beyond or bool(_re.search(r"\\[xuU]", text))
        if piece["open"]:
            captures = text == "(" or text.startswith("(?P")
            if captures and any(before.startswith("(?<") for before in opened):
                _refuse("a group that is captured in a lookbehind")
            opened.append(text)
        elif piece["close"] and opened:
            opened.pop()
    return kinds, beyond


@functools.lru_cache(512)
def _compiled(pattern, flags):
    if not isinstance(pattern, str):
        _refuse("a pattern of bytes")
    python = 0
    for flag in RegexFlag(flags):
        python |= _TAKEN[flag] if flag in _TAKEN else _refuse(f"the flag {flag.name}")
    kinds, beyond = _check_pattern(pattern)
    ignores_case = bool(flags & RegexFlag.I)
    if ignores_case and beyond:
        _refuse("ignoring the case of characters that are not in ASCII")
    ascii_only = ignores_case or kinds and not flags & RegexFlag.A
    try:
        # Of a text in ASCII `re.ASCII` changes only `\s`, which in `re` has four control characters more.
        found = _re.compile(pattern, python | (_re.A if ascii_only else 0))
    except _re.error as wrong:
        _refuse(f"the pattern {pattern!r} ({wrong})")
    return Pattern(found, flags, ascii_only)


class Pattern:
    __slots__ = ("_re", "_ascii_only", "flags", "groupindex", "groups", "pattern")

    def __init__(self, found, flags, ascii_only):
        self._re, self._ascii_only, self.pattern = found, ascii_only, found.pattern
        self.groups, self.groupindex = found.groups, dict(found.groupindex)
        self.flags = int(flags | RegexFlag.V0 | (0 if flags & RegexFlag.A else RegexFlag.U))

    def _place(self, string, pos=None, endpos=None, **options):
        if not isinstance(string, str) or self._ascii_only and not string.isascii():
            _refuse(f"a text that is not in ASCII, and the pattern {self.pattern!r}")
        for name, value in options.items():
            if value is not None and value is not False:
                _refuse(f"the option {name}")
        if (pos or 0) < 0 or endpos is not None and endpos < 0:
            _refuse("a place from the end")
        return string, pos or 0, len(string) if endpos is None else endpos

    def _made(self, found):
        return found and Match(self, found)

    def match(self, *place, **options):
        return self._made(self._re.match(*self._place(*place, **options)))

    def fullmatch(self, *place, **options):
        return self._made(self._re.fullmatch(*self._place(*place, **options)))

    def search(self, *place, **options):
        return self._made(self._re.search(*self._place(*place, **options)))

    def findall(self, *place, **options):
        place = self._place(*place, **options)
        # `regex` gives a tuple or an empty text for it, by how it repeats the group.
        if self.groups == 1 and any(found.start(1) < 0 for found in self._re.finditer(*place)):
            _refuse("findall where the only group is not part of a match")
        return self._re.findall(*place)

    def finditer(self, *place, **options):
        return map(self._made, self._re.finditer(*self._place(*place, **options)))

    def split(self, string, maxsplit=0, **options):
        return self._re.split(self._place(string, **options)[0], maxsplit)

    def sub(self, repl, string, count=0, **options):
        return self.subn(repl, string, count, **options)[0]

    def subn(self, repl, string, count=0, **options):
        if options.get("pos") is not None or options.get("endpos") is not None:
            _refuse("replacing in a part of a text")
        made = (lambda found: repl(Match(self, found))) if callable(repl) else _template(repl)
        return self._re.subn(made, self._place(string, **options)[0], count)

    def __getattr__(self, name):
        if name in _REFUSED | {"named_lists", "scanner"}:
            _refuse(f"Pattern.{name}")
        raise AttributeError(name)

    def __reduce__(self):
        return compile, (self.pattern, self.flags)

    def __repr__(self):
        return f"regex.Regex({self.pattern!r}, flags={self.flags:#x})"


class Match:
    __slots__ = ("_match", "re")

    def __init__(self, pattern, found):
        self.re, self._match = pattern, found

    def __getattr__(self, name):
        if name in _OF_MATCH:
            return getattr(self._match, name)
        if name in _REFUSED_OF_MATCH:
            _refuse(f"Match.{name}")
        raise AttributeError(name)

    def __getitem__(self, group):
        return self._match[group]

    def expand(self, template):
        return self._match.expand(_template(template))

    def __repr__(self):
        return f"<regex.Match object; span={self.span()}, match={self[0]!r}>"


def _template(text):
    return text if isinstance(text, str) and _TEMPLATE.fullmatch(text) else _refuse(f"the replacement {text!r}")


def compile(pattern, flags=0, ignore_unused=False, cache_pattern=None, **named_lists):
    if named_lists:
        _refuse("named lists")
    if isinstance(pattern, Pattern):
        return pattern if not flags else _refuse("flags for a pattern that is compiled")
    return _compiled(pattern, flags)


def match(pattern, string, flags=0, *place, **options):
    return compile(pattern, flags).match(string, *place, **options)


def fullmatch(pattern, string, flags=0, *place, **options):
    return compile(pattern, flags).fullmatch(string, *place, **options)


def search(pattern, string, flags=0, *place, **options):
    return compile(pattern, flags).search(string, *place, **options)


def findall(pattern, string, flags=0, *place, **options):
    return compile(pattern, flags).findall(string, *place, **options)


def finditer(pattern, string, flags=0, *place, **options):
    return compile(pattern, flags).finditer(string, *place, **options)


def split(pattern, string, maxsplit=0, flags=0, **options):
    return compile(pattern, flags).split(string, maxsplit, **options)


def sub(pattern, repl, string, count=0, flags=0, **options):
    return compile(pattern, flags).sub(repl, string, count, **options)


def subn(pattern, repl, string, count=0, flags=0, **options):
    return compile(pattern, flags).subn(repl, string, count, **options)


def purge():
    _compiled.cache_clear()


def __getattr__(name):
    if name in _REFUSED:
        _refuse(name)
    raise AttributeError(f"module 'regex' has no attribute {name!r}")
