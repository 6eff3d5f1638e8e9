import asyncio
import os

import pytest
from skillware.core.loader import SkillLoader

from skills.office.letter import skill as absolute

from .skill import Greeter


def test_relative_and_absolute_imports_are_one_module():
    assert absolute.Greeter is Greeter and __name__ == "skills.office.letter.test_skill"


def test_the_loader_finds_the_skill_by_its_id():
    assert SkillLoader.load_skill("office/letter")["class"].__name__ == "Greeter"


def test_the_working_folder_is_the_registrys():
    assert os.path.isdir("skills/office/letter")


def test_conftest_of_the_registry(of_all_skills):
    assert of_all_skills == "registry, skills"


async def test_configuration_of_the_registry():
    await asyncio.sleep(0)


@pytest.mark.slow
@pytest.mark.timeout(5)
def test_markers():
    pass
