import pytest


@pytest.fixture
def of_all_skills(of_the_registry):
    return of_the_registry + ", skills"
