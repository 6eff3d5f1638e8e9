import asyncio
import time

from skillware.core.base_skill import BaseSkill


async def later(value, seconds=0.0):
    await asyncio.sleep(seconds)
    return value


async def in_a_thread():
    return await asyncio.to_thread(lambda: "thread")


async def nested():
    """As BaseSkill bridges to a coroutine while a loop is running."""
    inner = BaseSkill._run_coroutine_sync(later("inner"))
    return inner, await later("outer")


async def called_later():
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.01, future.set_result, "called")
    return await future


class EventLoops(BaseSkill):
    manifest = {}

    def execute(self, params):
        started = time.monotonic()
        asyncio.run(later(None, 0.05))
        slept = time.monotonic() - started
        with asyncio.Runner() as runner:
            runs = [runner.run(later(n)) for n in range(2)]
        loop = asyncio.new_event_loop()
        try:
            own = loop.run_until_complete(later("own"))
        finally:
            loop.close()
        return {
            "really_waits": 0.05 <= slept < 5,
            "runner": runs,
            "own": own,
            "current": asyncio.get_event_loop().run_until_complete(later("current")),
            "to_thread": asyncio.run(in_a_thread()),
            "nested": asyncio.run(nested()),
            "call_later": asyncio.run(called_later()),
        }
