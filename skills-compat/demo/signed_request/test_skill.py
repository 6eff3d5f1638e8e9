import requests
from skill import SignedRequest


class Answer:
    def json(self):
        return {"balance": 7}


def test_the_key_goes_into_the_header(monkeypatch):
    sent = {}

    def get(url, headers, timeout):
        sent.update(headers)
        return Answer()

    monkeypatch.setattr(requests, "get", get)
    skill = SignedRequest(config={"BANK_API_KEY": "k"})
    assert skill.execute({})["balance"] == 7
    assert sent == {"Authorization": "Bearer k"}


def test_without_a_key_it_says_so(monkeypatch):
    monkeypatch.delenv("BANK_API_KEY", raising=False)
    assert "not configured" in SignedRequest().execute({})["error"]
