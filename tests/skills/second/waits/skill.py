import asyncio
import os
import sys
import time

from skillware.core.base_skill import BaseSkill


async def several():
    done = await asyncio.gather(*(asyncio.sleep(0.01 * number, number) for number in range(3)))
    async with asyncio.timeout(5):
        await asyncio.to_thread(time.sleep, 0.01)
    return done


class Waits(BaseSkill):
    manifest = {}

    def execute(self, params):
        started = time.monotonic()
        time.sleep(params.get("seconds", 0.05))
        slept = time.monotonic() - started
        return {"platform": sys.platform, "slept": slept, "gathered": asyncio.run(several()), "folder": os.getcwd()}
