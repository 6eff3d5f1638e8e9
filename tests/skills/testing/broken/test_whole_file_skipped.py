import pytest

pytest.importorskip("playwright")


def test_never():
    assert False
