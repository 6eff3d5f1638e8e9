"""Uses a key that it never sees: what it reads is a placeholder, and the host puts the key in on its way out."""

import requests
from skillware.core.base_skill import BaseSkill

BALANCE = "https://bank.example.org/v1/balance"


class SignedRequest(BaseSkill):
    @property
    def manifest(self):
        return {"name": "demo/signed_request", "version": "0.1.0"}

    def execute(self, params):
        key = self.credential("BANK_API_KEY")
        if not key:
            return {"error": "BANK_API_KEY is not configured"}
        answer = requests.get(BALANCE, headers={"Authorization": f"Bearer {key}"}, timeout=10)
        return {"balance": answer.json()["balance"], "key_as_seen": key}
