import asyncio

import anthropic
import openai
from skillware.core.base_skill import BaseSkill

ASK = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
CLIENT = {"api_key": "k", "max_retries": 0}


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
        return {"openai": [said, parts], "anthropic": [answered, streamed], "later": asyncio.run(self.later(url))}

    async def later(self, url):
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", **CLIENT) as client:
            said = (await client.chat.completions.create(**ASK)).choices[0].message.content
            stream = await client.chat.completions.create(**ASK, stream=True)
            parts = [part.choices[0].delta.content async for part in stream]
        async with anthropic.AsyncAnthropic(base_url=url, **CLIENT) as client:
            answered = (await client.messages.create(**ASK, max_tokens=9)).content[0].text
            async with client.messages.stream(**ASK, max_tokens=9) as stream:
                streamed = [text async for text in stream.text_stream]
        return [[said, parts], [answered, streamed]]
