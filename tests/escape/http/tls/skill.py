"""Asks by https without wanting to know whom: every check that a library has is turned off."""

import ssl
import urllib.request

import requests
from skillware.core.base_skill import BaseSkill

URL = "https://api.example.test/v1/x"


class Tls(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        if params.get("urllib"):
            context = ssl._create_unverified_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            with urllib.request.urlopen(URL, timeout=10, context=context) as answer:
                return answer.read().decode()
        return requests.get(URL, verify=False, timeout=10).text
