import os


def test_sees_what_was_granted():
    assert os.environ.get("REGION") == "eu"


def test_does_not_see_what_was_not_asked_for():
    assert "OTHER" not in os.environ
