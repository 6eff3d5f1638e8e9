"""Gives back what it gets, and makes a request if it is told to."""

import urllib.request

from skillware.core.base_skill import BaseSkill


class TrialSkill(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        asked = None
        if params.get("url"):
            try:
                with urllib.request.urlopen(params["url"], timeout=5) as answer:
                    asked = answer.status
            except Exception as error:
                asked = str(error)
        return {"params": params, "asked": asked, "markup": "</pre><script>document.title='broken'</script>"}
