import http.client
import os

HOST = "api.weather.example"
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        connection = http.client.HTTPSConnection(HOST, timeout=5)
        connection.request("GET", "/v2/now", headers={"Authorization": os.environ["WEATHER_TOKEN"]})
        return {"status": connection.getresponse().status}
