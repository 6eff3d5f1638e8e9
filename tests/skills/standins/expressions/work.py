"""Regular expressions: some by hand, most of them drawn. What is not available is said with its reason."""

from random import Random

import regex

random = Random(5)  # `regex` draws from the shared one

ATOMS = ["a", "b", "c", ".", r"\d", r"\w", r"\s", "[ab]", "[^a]", r"[a-c\d]", r"\b", "^", "$", r"\A", r"\Z", r"\.", "-", r"[\w-]", "A", "é"]
GROUPS = ["(", "(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?P<n%d>"]
REPEATS = ["*", "+", "?", "{2}", "{1,2}", "{,2}"]
# What `re` does not have, means differently, or is not known to mean the same. Each has to be refused.
BEYOND = [
    r"\p{L}", r"\P{Lu}", "[[:alpha:]]", r"[\p{L}]", "(?|(a)|(b))", r"(?P<x>a)|(?P<x>b)", r"a\Kb", r"\Ga", r"\X", r"\h", r"\R", "(?R)", "(?1)",
    "(?&x)", r"\m", r"\M", r"\L<names>", "(?:foo){e<=1}", "(?e)a", "(?i)a", "(?r)a", "(?<x>a)", "(?<=a+)b", "(?<=(a))b", "[a--b]",
    "[a||b]", "[a&&b]", "[a~~b]", r"\N{BULLET}", r"\g<1>", "(*PRUNE)", "(?(1)a|b)", "(?#x)", r"\B", r"\012", "a{x}",
]


def pattern(depth, groups):
    parts = []
    for _ in range(random.randint(1, 4)):
        drawn = random.random()
        if depth and drawn < 0.35:
            kind = random.choice(GROUPS)
            if "%" in kind:
                kind %= random.randint(0, 999)
            inner = random.choice(["a", "b", r"\w", "ab", "[ab]"]) if kind.startswith("(?<") else pattern(depth - 1, groups)
            if kind == "(" or kind.startswith("(?P"):
                groups.append(kind)
            part = kind + inner + ")"
        elif drawn < 0.42 and groups:
            part = rf"\{random.randint(1, min(9, len(groups)))}"
        else:
            part = random.choice(ATOMS)
        if random.random() < 0.35:
            part += random.choice(REPEATS) + random.choice(["", "", "", "?", "+"])
        parts.append(part)
    return "".join(parts) + ("|" + pattern(depth - 1, groups) if depth and random.random() < 0.25 else "")


def seen(match):
    return match and [match.span(), match.groups(), match.groupdict(), match.lastindex, match[0], match.regs]


def run(text, flags, subject, pos, how):
    compiled = regex.compile(text, flags)
    if how == "findall":
        return compiled.findall(subject)
    if how == "finditer":
        return [seen(match) for match in compiled.finditer(subject)]
    if how == "sub":
        return compiled.subn(lambda match: f"<{match.group()}>", subject)
    if how == "template":
        return compiled.sub(r"<\g<0>\n>", subject, 2)
    if how == "split":
        return compiled.split(subject)
    return seen(getattr(compiled, how)(subject, pos))


def tried(*what):
    try:
        return run(*what)
    except NotImplementedError as refused:
        return str(refused)
    except Exception as error:
        return type(error).__name__


def work():
    found = {"beyond": [tried(text, 0, "abc", 0, "search") for text in BEYOND], "drawn": []}
    hows = ["match", "search", "fullmatch", "findall", "finditer", "sub", "template", "split"]
    for _ in range(1500):
        text, flags = pattern(2, []), random.choice([0, 0, 0, regex.I, regex.M, regex.S, regex.A, regex.I | regex.M])
        letters = random.choice(["aabbcAB01 -._\x1c\n", "aabbcéÀß٣ -"])
        subject = "".join(random.choice(letters) for _ in range(random.randint(0, 12)))
        found["drawn"].append(tried(text, flags, subject, random.choice([0, 0, 0, 1, 3]), random.choice(hows)))
    # By hand: what packages do with it.
    number, text = regex.compile(r"(?P<whole>\d+)(?:\.(?P<part>\d+))?"), "1.5, 20 and 3.25"
    found["hand"] = [
        [match.groupdict() for match in number.finditer(text)],
        [number.sub(r"\g<part>,\1", text), number.flags, number.groups, dict(number.groupindex), number.pattern],
        [regex.split(r"\s*,\s*", "a , b,c"), regex.findall(r"(?<!\w)(\w)\w*", "one two"), regex.fullmatch("a|ab", "ab").span()],
        [int(regex.I), int(regex.A), int(regex.V1), regex.compile(number) is number, regex.subn("b*", "-", "abc")],
    ]
    return found
