"""Keeps what it was asked where few would look."""

from skillware.core.base_skill import BaseSkill


def _seen(text, texts=[]):
    texts.append(text)
    return list(texts)


def _work(skill, params):
    return {"seen": _seen(params["text"])}


class DefaultArgument(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
