"""Stands for the user database: one user, `skill`. See `standins.accounts`."""

from collections import namedtuple

struct_passwd = namedtuple("struct_passwd", "pw_name pw_passwd pw_uid pw_gid pw_gecos pw_dir pw_shell")
_SKILL = struct_passwd("skill", "x", 0, 0, "", "/home/skill", "")


def getpwuid(uid):
    if uid != _SKILL.pw_uid:
        raise KeyError(f"getpwuid(): uid not found: {uid}")
    return _SKILL


def getpwnam(name):
    if name != _SKILL.pw_name:
        raise KeyError(f"getpwnam(): name not found: {name!r}")
    return _SKILL


def getpwall():
    return [_SKILL]
