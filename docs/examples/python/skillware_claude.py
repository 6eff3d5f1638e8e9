"""Skillware with Claude, with the import changed: the skill runs in a cell.

    pip install skillcell skillware
    python skillware_claude.py

The model is a script, so that nothing here needs a key or the network.
"""

from skillcell.skillware import SkillLoader


def scripted_model(tools, messages):
    """What a model that was offered these tools would answer."""
    if len(messages) == 1:
        wanted = {"raw_text": "Please be so kind as to help me.", "compression_aggression": "high"}
        return {"type": "tool_use", "name": tools[0]["name"], "input": wanted}
    return {"type": "text", "text": f"Shorter: {messages[-1]['content']['compressed_text']}"}


bundle = SkillLoader.load_skill("optimization/prompt_rewriter")
skill = bundle["class"]()
tools = [SkillLoader.to_claude_tool(bundle)]
messages = [{"role": "user", "content": "Make this shorter: Please be so kind as to help me."}]
answer = scripted_model(tools, messages)
while answer["type"] == "tool_use":
    messages.append({"role": "user", "content": skill.execute(answer["input"])})
    answer = scripted_model(tools, messages)
print(answer["text"])
