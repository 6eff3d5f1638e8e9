import json
import ssl
from urllib.request import Request, urlopen
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    HOST = "store.example.org"

    def execute(self, params):
        body = json.dumps(params).encode()
        request = Request(f"https://{self.HOST}/items/{params['id']}", data=body, method="PUT")
        request.add_header("Content-Type", "application/json")
        with urlopen(request, context=ssl.create_default_context(), timeout=5) as answer:
            return {"status": answer.status}
