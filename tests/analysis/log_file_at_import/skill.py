import logging
from skillware.core.base_skill import BaseSkill

logging.basicConfig(filename="skill.log", level=logging.INFO)


class Case(BaseSkill):
    def execute(self, params):
        logging.info("called")
        return {"text": params["text"]}
