"""Asks a server for something, and says how that went."""

import urllib.request

from skillware.core.base_skill import BaseSkill


class Caller(BaseSkill):
    manifest = {}

    def execute(self, params):
        try:
            return {"got": urllib.request.urlopen(params["url"]).status}
        except OSError as error:
            return {"failed": str(error)}
