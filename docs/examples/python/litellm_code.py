"""LiteLLM: its code interpreter tool, in a cell of this process.

    pip install skillcell litellm
    python litellm_code.py

A model is not needed: the tool is what LiteLLM calls when a model asks for it.
"""

import asyncio
import os

# LiteLLM fetches a list of prices when it is imported, unless it is told not to.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from litellm.sandbox.main import acode_interpreter_tool

from skillcell.runners.litellm import CellSandbox, installed

CODE = "import os\nprint(6 * 7, 'SECRET' in os.environ or os.path.exists('/etc/passwd'))"


async def main() -> None:
    os.environ["SECRET"] = "of the host"
    with installed(CellSandbox(timeout=20)):
        result = await acode_interpreter_tool(provider="opensandbox", code=CODE)
    print(result.stdout, end="")


if __name__ == "__main__":
    asyncio.run(main())
