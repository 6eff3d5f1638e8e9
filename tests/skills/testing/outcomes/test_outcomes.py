import pytest

from skill import Greeter


@pytest.fixture
def breaks():
    raise ConnectionError("no such fixture today")


@pytest.fixture
def breaks_afterwards():
    yield
    raise RuntimeError("the end is bad")


def test_passes():
    assert Greeter().execute({"name": "you"})["greeting"] == "hello you"


def test_fails():
    assert Greeter().execute({})["greeting"] == "hello you"


def test_raises_deep_in_a_library():
    int("no number")


def test_error(breaks):
    pass


def test_error_at_its_end(breaks_afterwards):
    pass


@pytest.mark.skip(reason="not today")
def test_skipped():
    assert False


def test_skips_itself():
    pytest.importorskip("no_such_module")


@pytest.mark.xfail(reason="known", strict=False)
def test_expected_to_fail():
    assert False


@pytest.mark.xfail(reason="known")
def test_unexpectedly_passes():
    pass


@pytest.mark.xfail(reason="known", strict=True)
def test_strictly_expected_to_fail():
    pass


@pytest.mark.parametrize(("name", "greeting"), [("a", "hello a"), ("é", "hello é"), ("b", "hello c")])
def test_parametrised(name, greeting):
    assert Greeter().execute({"name": name})["greeting"] == greeting


class TestClass:
    def test_method(self):
        pass
