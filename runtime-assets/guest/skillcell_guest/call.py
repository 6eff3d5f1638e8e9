"""One call in a cell: take the params, run the skill, hand the result back.

`enter` is what the host calls. It is kept lean on purpose: whatever it touches is copied into the cell page by page.
"""

import json
import os
import random
import sys

from skillcell_guest import door, failure, imports

_decode = json.JSONDecoder().decode
_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode

#: The skill's class, and the instance that was made while the image was baked (None if there is none).
skill_class = None
skill = None


def enter():
    try:
        params, extra = _take()
        _reseed()
        result = _instance(params, extra).execute(params)
        _flush()
        _give(result)
    except BaseException as error:  # the host tells the caller, whatever it was
        _flush()
        failure.hand_over(error)


_stdout, _stderr = sys.stdout, sys.stderr


def _flush():
    """Our own streams keep nothing back. One that a skill put in their place may, and nobody else flushes it."""
    if sys.stdout is not _stdout or sys.stderr is not _stderr:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:  # it is closed, or no stream at all
                pass


def _take():
    """The answer is a length, the params and, if the call has any, its config and environment."""
    frame = door.send(door.TAKE)
    size = int.from_bytes(frame[:4], "little")
    params = _decode(frame[4 : 4 + size].decode())
    rest = frame[4 + size :]
    return params, _decode(rest.decode()) if rest else None


def _instance(params, extra):
    """The baked instance serves only calls that bring nothing a constructor could have looked at."""
    if extra is None:
        return skill if skill is not None else skill_class()
    os.environ.update(extra.get("env") or {})
    if extra.get("deny_imports"):
        imports.deny(extra["deny_imports"])
    config = _with_secrets(extra.get("config"), extra.get("secrets"))
    made = skill_class(config=config) if config is not None else skill_class()
    if extra.get("validate"):
        made.validate_params(params)
    return made


def _with_secrets(config, names):
    """Skillware's `SecretProvider` hands secrets to a skill as `config` by their names; these are placeholders. A skill
    whose constructor takes no config finds them in the environment."""
    if not names or not (_takes_config() if config is None else isinstance(config, dict)):
        return config
    return {**(config or {}), **{name: os.environ[name] for name in names}}


def _takes_config():
    import inspect

    try:
        inspect.signature(skill_class).bind(config={})
    except (TypeError, ValueError):
        return False
    return True


#: `random.seed` itself, without the detour through Python; 256 bits are drawn at once.
_generator = random._inst
_seed_generator = super(random.Random, _generator).seed
#: Keeps seeds equally long, so that seeding always takes the same number of steps: fuel is counted.
_SEED_LENGTH = 1 << 256


def _reseed():
    """An image freezes the state of generators; every cell needs its own."""
    _seed_generator(int.from_bytes(os.urandom(32), "big") | _SEED_LENGTH)
    _generator.gauss_next = None
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()


def _give(result):
    door.send(door.GIVE, check_json(result))


def check_json(result):
    """The result as JSON, or an exception that says where it is none."""
    try:
        return _encode(result).encode()
    except (TypeError, ValueError, RecursionError) as error:
        failure.explain_result(result, error)
