import pytest


@pytest.fixture
def of_the_registry():
    return "registry"
