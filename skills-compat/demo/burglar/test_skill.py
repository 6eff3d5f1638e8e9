"""In a cell it gets nothing. On a plain computer this test fails, which is the point of cells."""

from skill import Burglar


def test_it_gets_nothing():
    assert Burglar().execute({}) == {"got": {}, "tried": 11}
