import asyncio

from skillware.core.base_skill import BaseSkill


async def later(value):
    await asyncio.sleep(0.01)
    return value


class AsyncOnly(BaseSkill):
    manifest = {}

    async def aexecute(self, params):
        together = await asyncio.gather(*(later(n) for n in range(3)))
        async with asyncio.TaskGroup() as group:
            task = group.create_task(later("task"))
        try:
            await asyncio.wait_for(asyncio.Event().wait(), 0.01)
        except TimeoutError:
            return {"together": together, "task": task.result(), "timed_out": True}
