from skillware.core.base_skill import BaseSkill


class One(BaseSkill):
    manifest = {}


class Two(BaseSkill):
    manifest = {}
