import asyncio

import anthropic
import openai
from google import genai
from google.genai import errors
from skillware.core.base_skill import BaseSkill

ASK = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
CLIENT = {"api_key": "k", "max_retries": 0}
GEMINI = {"model": "m", "contents": "hi"}


class Clients(BaseSkill):
    manifest = {}

    def execute(self, params):
        url = params["url"]
        with openai.OpenAI(base_url=f"{url}/v1", **CLIENT) as client:
            said = client.chat.completions.create(**ASK).choices[0].message.content
            parts = [part.choices[0].delta.content for part in client.chat.completions.create(**ASK, stream=True)]
        with anthropic.Anthropic(base_url=url, **CLIENT) as client:
            answered = client.messages.create(**ASK, max_tokens=9).content[0].text
            with client.messages.stream(**ASK, max_tokens=9) as stream:
                streamed = list(stream.text_stream)
        with self.gemini(url) as client:
            replied = client.models.generate_content(**GEMINI).text
            pieces = [part.text for part in client.models.generate_content_stream(**GEMINI)]
            try:
                client.models.generate_content(model="refused", contents="hi")
            except errors.ClientError as error:
                refused = [error.code, error.status, error.message]
        try:
            from google.oauth2 import service_account

            service_account.Credentials.from_service_account_info({"private_key": "k", "client_email": "a", "token_uri": url})
        except ImportError as error:
            missing = error.name
        return {
            "openai": [said, parts],
            "anthropic": [answered, streamed],
            "gemini": [replied, pieces],
            "refused": refused,
            "missing": missing,
            "later": asyncio.run(self.later(url)),
        }

    def gemini(self, url):
        return genai.Client(api_key=self.credential("GOOGLE_API_KEY"), http_options={"base_url": url})

    async def later(self, url):
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", **CLIENT) as client:
            said = (await client.chat.completions.create(**ASK)).choices[0].message.content
            stream = await client.chat.completions.create(**ASK, stream=True)
            parts = [part.choices[0].delta.content async for part in stream]
        async with anthropic.AsyncAnthropic(base_url=url, **CLIENT) as client:
            answered = (await client.messages.create(**ASK, max_tokens=9)).content[0].text
            async with client.messages.stream(**ASK, max_tokens=9) as stream:
                streamed = [text async for text in stream.text_stream]
        async with self.gemini(url).aio as client:
            replied = (await client.models.generate_content(**GEMINI)).text
            pieces = [part.text async for part in await client.models.generate_content_stream(**GEMINI)]
        return [[said, parts], [answered, streamed], [replied, pieces]]
