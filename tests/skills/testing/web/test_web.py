import os
import urllib.request


def test_asks():
    assert urllib.request.urlopen(os.environ["URL"], timeout=10).read() == b"hi"
