"""`python -m skillcell.skillware run --isolated <skill> --params …`, the form of Skillware's proposal.

In a folder of a stranger it is `python -P -m …`: without `-P` Python itself imports what lies in the working folder first.

The result is on stdout as JSON. Exit codes are those of `skillcell run`: 0 it returned, 1 it raised, 2 wrong use or a host
error, 3 refused, 4 a limit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from skillcell import Exceeded, Raised, Refused, SkillcellError
from skillcell._skillcell import escape_text

from .errors import UnboundSecret
from .isolation import Isolation
from .loader import SkillLoader


def main(arguments: Sequence[str] | None = None) -> int:
    """Gives the exit code."""
    options = _parser().parse_args(arguments)
    try:
        result = SkillLoader.execute_isolated(
            options.skill, options.params, options.timeout, config=options.config, isolation=_isolation(options)
        )
    except (SkillcellError, OSError, TypeError, ValueError) as error:
        # A skill's own text may hold anything, also what moves a terminal's cursor.
        print(f"error: {escape_text(str(error))}", file=sys.stderr)
        for note in getattr(error, "__notes__", []):
            print(escape_text(note), file=sys.stderr)
        return _exit_code(error)
    # All of it escaped: whatever it is printed on, and whatever that would act on.
    print(json.dumps(result))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m skillcell.skillware", description="Calls Skillware's skills in cells."
    )
    run = parser.add_subparsers(required=True, metavar="run").add_parser("run", help="call a skill once")
    run.add_argument("skill", help="a folder, or an id such as optimization/prompt_rewriter")
    run.add_argument("--isolated", action="store_true", help="as always here: in a cell")
    run.add_argument("--params", type=_json, default={}, metavar="JSON", help="what execute gets; @FILE reads a file")
    run.add_argument("--config", type=_json, default=None, metavar="JSON", help="what the constructor gets")
    run.add_argument("--timeout", type=float, default=30, metavar="SECONDS")
    run.add_argument("--allow-http", action="append", default=[], metavar="RULE")
    run.add_argument("--mount", action="append", default=[], metavar="HOST:GUEST[:ro|rw]")
    run.add_argument(
        "--secret-host", action="append", default=[], metavar="NAME@HOST", help="where a credential may be sent"
    )
    run.add_argument("--plain", action="append", default=[], metavar="NAME", help="one of env_vars that is no secret")
    return parser


def _json(text: str) -> Any:
    try:
        if text.startswith("@"):
            with open(text[1:], encoding="utf-8") as file:
                text = file.read()
        return json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _isolation(options: argparse.Namespace) -> Isolation:
    hosts: dict[str, list[str]] = {}
    for text in options.secret_host:
        name, at, host = text.partition("@")
        if not at:
            raise ValueError(f"--secret-host {text!r} is no NAME@HOST")
        hosts.setdefault(name, []).append(host)
    call = {"allow_http": options.allow_http, "mounts": options.mount}
    return Isolation(
        secret_hosts=hosts, plain=options.plain, call={name: given for name, given in call.items() if given}
    )


def _exit_code(error: Exception) -> int:
    if isinstance(error, Raised):
        return 1
    if isinstance(error, Refused | UnboundSecret):
        return 3
    return 4 if isinstance(error, Exceeded) else 2


if __name__ == "__main__":
    sys.exit(main())
