"""One call in a cell: take the params, run the skill, hand the result back. In a session more calls follow in the same cell.

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
#: What `manifest.yaml` says.
manifest = {}
#: Modules of which the host tells the caller if the call has them: numpy, and those of the skill's stand-ins.
watched = ("numpy",)


def enter():
    try:
        params, extra = _take()
        if _kept is None:
            _reseed()
        result = _instance(params, extra).execute(params)
        _flush()
        tell_of_modules()
        _give(result)
    except BaseException as error:  # the host tells the caller, whatever it was
        _flush()
        tell_of_modules()
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
    if extra.get("validate"):
        _validate(params)
    return _kept_instance(extra) if extra.get("session") else _new_instance(extra)


#: The instance of a session: made by its first call, and then every call's.
_kept = None


def _kept_instance(extra):
    global _kept
    if _kept is None:
        plain = not (extra.get("env") or extra.get("deny_imports") or extra.get("config") is not None)
        _kept = skill if plain and skill is not None else _new_instance(extra)
    return _kept


def _new_instance(extra):
    os.environ.update(extra.get("env") or {})
    if extra.get("deny_imports"):
        imports.deny(extra["deny_imports"])
    config = _with_secrets(extra.get("config"), extra.get("secrets"))
    return skill_class(config=config) if config is not None else skill_class()


def _validate(params):
    """As Skillware does, but against `manifest.yaml`, as the host did: a skill's own `manifest` may say less."""
    from types import SimpleNamespace

    from skillware.core.base_skill import BaseSkill, SkillwareParamValidationError

    try:
        BaseSkill.validate_params(SimpleNamespace(manifest=manifest), params)
    except SkillwareParamValidationError as error:
        # The cause's text is the schema and the params in full, which takes long to print and is not for people.
        raise error from None


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
    """An image freezes the state of generators; every cell needs its own. A session's goes on as it is."""
    _seed_generator(int.from_bytes(os.urandom(32), "big") | _SEED_LENGTH)
    _generator.gauss_next = None
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()


def tell_of_modules():
    """Names those of `watched` that are loaded, by now, if there are any."""
    try:
        loaded = [name for name in watched if name in sys.modules]
        if loaded:
            door.send(door.TELL, _encode(loaded).encode())
    except Exception:  # a skill replaced `sys.modules`, or nothing is left of the memory
        pass


def _give(result):
    door.send(door.GIVE, check_json(result))


def check_json(result):
    """The result as JSON, or an exception that says where it is none."""
    try:
        return _encode(result).encode()
    except (TypeError, ValueError, RecursionError) as error:
        failure.explain_result(result, error)
