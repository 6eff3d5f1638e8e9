import pycurl
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        curl = pycurl.Curl()
        curl.setopt(curl.URL, "https://api.example.org/")
        curl.perform()
        return {}
