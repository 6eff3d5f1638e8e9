#!/usr/bin/env python3
"""Uses a server as the official Python client does: lists, calls, fails, waits, cancels, a hundred calls at once, in both eras.

    client.py stdio PROGRAM ARGUMENT…    starts the server
    client.py http URL                   asks one that runs

Needs PyPI's `mcp` 2.3.0. The server has the skills of `tests/skills/mcp`. It prints a line for each era; a failure is an
exception and exit code 1. Each era cancels one call, which whoever started this looks for in the audit.
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters

DEADLINE = 120


async def use_server(server, mode):
    async with Client(server, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(tools) == ["caller", "echo", "grower", "sleeper"], tools
        assert tools["echo"].title == "Echo chamber" and tools["echo"].output_schema

        result = await client.call_tool("echo", {"value": {"é": [1, None]}})
        assert not result.is_error and result.structured_content == {"é": [1, None]}, result
        failed = await client.call_tool("echo", {"problem": "so it goes"})
        assert failed.is_error and "so it goes" in failed.content[0].text, failed
        try:
            await client.call_tool("nothing", {})
            raise AssertionError("there is no such tool")
        except Exception as error:
            assert "unknown tool" in str(error), error

        told = []

        async def tell(progress, total, message):
            told.append(progress)

        slept = await client.call_tool("sleeper", {"seconds": 3}, progress_callback=tell)
        assert slept.structured_content == {"slept": 3} and told and told == sorted(told), (slept, told)

        call = asyncio.create_task(client.call_tool("sleeper", {"seconds": 50}))
        await asyncio.sleep(1)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

        many = await asyncio.gather(*(client.call_tool("echo", {"value": {"n": n}}) for n in range(100)))
        assert [one.structured_content["n"] for one in many] == list(range(100))

        long = await client.call_tool("grower", {"lines": 20_000})
        link = next(block for block in long.content if block.type == "resource_link")
        read = await client.read_resource(link.uri)
        assert len(read.contents[0].text) == 200_000
        prompt = await client.get_prompt("echo")
        assert "Call it with" in prompt.messages[0].content.text
        assert (await client.list_resources()).resources


async def main():
    kind, *rest = sys.argv[1:]
    for mode in ["legacy", "2026-07-28", "auto"]:
        server = rest[0] if kind == "http" else StdioServerParameters(command=rest[0], args=rest[1:])
        await asyncio.wait_for(use_server(server, mode), DEADLINE)
        print(f"python {kind} {mode}: ok", flush=True)


asyncio.run(main())
