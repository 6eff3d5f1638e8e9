"""Runners for frameworks that run a skill's scripts, or a model's code, where they run themselves. Each needs its framework, and
puts `skillcell.run_python` in the place of a process or of `exec`:

    skillcell.runners.agent_framework    Microsoft Agent Framework: `SkillScriptRunner`
    skillcell.runners.adk                Google ADK: `BaseCodeExecutor`, also for its `SkillToolset`
    skillcell.runners.smolagents         smolagents: `PythonExecutor`
    skillcell.runners.litellm            LiteLLM: `BaseSandboxConfig`
"""
