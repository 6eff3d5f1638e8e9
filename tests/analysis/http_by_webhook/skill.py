import json
import os
from urllib import request
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        body = json.dumps({"text": params["text"]}).encode()
        message = request.Request(os.environ["WEBHOOK_URL"], body, {"Content-Type": "application/json"})
        with request.urlopen(message) as answer:
            return {"status": answer.status}
