"""Microsoft Agent Framework: an agent whose skill has a script, which runs in a cell.

    pip install skillcell agent-framework-core
    python agent_framework_skill.py

The model is a script of three answers, so that nothing here needs a key or the network.
"""

import asyncio
import os
from pathlib import Path

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, Message, SkillsProvider
from agent_framework._tools import FunctionInvocationLayer

from skillcell.runners.agent_framework import CellScriptRunner

ARGUMENTS = {"skill_name": "word-stats", "script_name": "scripts/count.py", "args": ["the quick brown fox"]}


class ScriptedModel(FunctionInvocationLayer, BaseChatClient):
    """Loads the skill, runs its script, then says what came of it."""

    def _inner_get_response(self, *, messages, stream, options, **kwargs):
        results = [part.result for message in messages for part in message.contents if part.type == "function_result"]

        async def answer():
            if len(results) == 0:
                content = Content.from_function_call("1", "load_skill", arguments={"skill_name": "word-stats"})
            elif len(results) == 1:
                content = Content.from_function_call("2", "run_skill_script", arguments=ARGUMENTS)
            else:
                content = Content.from_text(f"The script says {str(results[-1]).strip()}")
            return ChatResponse(messages=[Message("assistant", [content])])

        return answer()


async def main() -> None:
    os.environ["SECRET"] = "of the host"
    skills = SkillsProvider.from_paths(
        Path(__file__).parent / "skills",
        script_runner=CellScriptRunner(timeout=20),
        # The cell is what makes that a reasonable choice.
        disable_load_skill_approval=True,
        disable_run_skill_script_approval=True,
    )
    agent = Agent(ScriptedModel(), "You count words.", context_providers=[skills])
    print((await agent.run("How many words has 'the quick brown fox'?")).text)


if __name__ == "__main__":
    asyncio.run(main())
