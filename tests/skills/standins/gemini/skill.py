import google.genai as genai
from google.genai import errors, types
from skillware.core.base_skill import BaseSkill


class Gemini(BaseSkill):
    """As the registry's skills ask Gemini, at an address that the test has."""

    manifest = {}

    def execute(self, params):
        options = types.HttpOptions(base_url=params["url"])
        client = genai.Client(api_key=self.credential("GOOGLE_API_KEY"), http_options=options)
        answer = client.models.generate_content(
            model="gemini-test",
            contents="a question",
            config=types.GenerateContentConfig(response_mime_type="application/json", temperature=0.0),
        )
        try:
            client.models.generate_content(model="refused", contents="a question")
        except errors.ClientError as error:
            refused = [error.code, error.status, error.message]
        try:
            genai.Client(vertexai=True)
        except NotImplementedError as error:
            missing = str(error)
        usage = answer.usage_metadata.total_token_count
        return {"text": answer.text, "why": answer.candidates[0].finish_reason, "tokens": usage, "refused": refused, "missing": missing}
