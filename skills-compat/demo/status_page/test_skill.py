import requests
from skill import StatusPage


class Answer:
    def json(self):
        return {"status": "fine"}


def test_the_status_is_what_the_service_says(monkeypatch):
    monkeypatch.setattr(requests, "get", lambda url, timeout: Answer())
    assert StatusPage().execute({}) == {"reached": True, "status": "fine"}


def test_a_service_that_is_not_reached_is_said_to_be(monkeypatch):
    def refused(url, timeout):
        raise requests.ConnectionError

    monkeypatch.setattr(requests, "get", refused)
    assert StatusPage().execute({}) == {"reached": False, "why": "ConnectionError"}
