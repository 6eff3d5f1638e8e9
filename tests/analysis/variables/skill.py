import os

import httpx
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        region = os.getenv("SERVICE_REGION", "eu")
        headers = {"X-Key": os.environ.get("SERVICE_API_KEY", "")}
        return httpx.get("https://api.service.example/v1/" + region, headers=headers).json()
