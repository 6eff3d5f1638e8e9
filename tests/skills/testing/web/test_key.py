from pathlib import Path


def test_tells():
    key = Path("/found/key").read_text(encoding="utf-8")
    print(key)
    assert False, key
