"""Google ADK: a skill of a `SkillToolset`, whose script runs in a cell.

    pip install skillcell google-adk
    python adk_skill.py

The model is a script of three answers, so that nothing here needs a key or the network.
"""

import asyncio
import os
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.skills import load_skill_from_dir
from google.adk.tools.skill_toolset import SkillToolset
from google.genai import types

from skillcell.runners.adk import CellCodeExecutor

ARGUMENTS = {"skill_name": "word-stats", "file_path": "scripts/count.py", "args": ["the quick brown fox"]}


class ScriptedModel(BaseLlm):
    """Loads the skill, runs its script, then says what came of it."""

    async def generate_content_async(self, llm_request, stream=False):
        parts = [part for content in llm_request.contents for part in content.parts or []]
        results = [part.function_response.response for part in parts if part.function_response]
        if len(results) == 0:
            part = types.Part.from_function_call(name="load_skill", args={"skill_name": "word-stats"})
        elif len(results) == 1:
            part = types.Part.from_function_call(name="run_skill_script", args=ARGUMENTS)
        else:
            part = types.Part.from_text(text=f"The script says {results[-1]['stdout'].strip()}")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def main() -> None:
    os.environ["SECRET"] = "of the host"
    skill = load_skill_from_dir(Path(__file__).parent / "skills" / "word-stats")
    tools = SkillToolset(skills=[skill], code_executor=CellCodeExecutor(timeout_seconds=20))
    agent = LlmAgent(name="counter", model=ScriptedModel(model="scripted"), tools=[tools])
    runner = InMemoryRunner(agent=agent, app_name="counting")
    session = await runner.session_service.create_session(app_name="counting", user_id="me")
    question = types.Content(role="user", parts=[types.Part.from_text(text="How many words?")])
    async for event in runner.run_async(user_id="me", session_id=session.id, new_message=question):
        if event.is_final_response() and event.content:
            print(event.content.parts[0].text)


if __name__ == "__main__":
    asyncio.run(main())
