import asyncio
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return asyncio.run(self._listen(params))

    async def _listen(self, params):
        reader, writer = await asyncio.open_connection("stream.example.org", 9000)
        return {"first": (await reader.readline()).decode()}
