"""Stands for the group database: one group, `skill`. See `standins.accounts`."""

from collections import namedtuple

struct_group = namedtuple("struct_group", "gr_name gr_passwd gr_gid gr_mem")
_SKILL = struct_group("skill", "x", 0, [])


def getgrgid(gid):
    if gid != _SKILL.gr_gid:
        raise KeyError(f"getgrgid(): gid not found: {gid}")
    return _SKILL


def getgrnam(name):
    if name != _SKILL.gr_name:
        raise KeyError(f"getgrnam(): name not found: {name!r}")
    return _SKILL


def getgrall():
    return [_SKILL]
