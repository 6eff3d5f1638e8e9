import openai
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        client = openai.OpenAI(api_key=self.credential("OPENAI_API_KEY"))
        return {"text": client.responses.create(model="gpt", input=params["text"]).output_text}
