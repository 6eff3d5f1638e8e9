"""smolagents: a `CodeAgent` whose code runs in cells, step by step.

    pip install skillcell smolagents
    python smolagents_code.py

The model is a script of three answers, so that nothing here needs a key or the network.
"""

import os

from smolagents import CodeAgent, Model, tool
from smolagents.models import ChatMessage, MessageRole

from skillcell.runners.smolagents import CellPythonExecutor

STEPS = [
    "def squares(n):\n    return [i * i for i in range(n)]\nvalues = squares(4)\nprint(values)",
    "import os\nseen = 'SECRET' in os.environ or os.path.exists('/etc/passwd')\nprint(sum_of(values), seen)",
    "final_answer({'sum': sum_of(squares(4)), 'sees_the_host': seen})",
]


@tool
def sum_of(numbers: list) -> int:
    """Adds numbers.

    Args:
        numbers: What to add.
    """
    return sum(numbers)


class ScriptedModel(Model):
    """Says one step after the other."""

    said = 0

    def generate(self, messages, **kwargs):
        step = STEPS[self.said]
        self.said += 1
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"Thought: go on.\n<code>\n{step}\n</code>")


def main() -> None:
    os.environ["SECRET"] = "of the host"
    agent = CodeAgent(tools=[sum_of], model=ScriptedModel(), executor=CellPythonExecutor(timeout=20), verbosity_level=0)
    print(agent.run("Add the first four squares."))


if __name__ == "__main__":
    main()
