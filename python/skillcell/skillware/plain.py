"""What Skillware's `BaseSkill` and `SkillLoader` have that needs no skill: for programs without the package `skillware`. Where
it is installed, its own are used."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from typing import Any, Protocol

from .credentials import CredentialFunction, variable_names

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")


class SecretProvider(Protocol):
    """Whoever has credentials, by their names."""

    def get(self, key: str) -> str | None:
        """The value; none if it has none."""


class PlainSkill:
    """As much of `BaseSkill` as a host asks for."""

    def __init__(self, config: dict[str, Any] | None = None, credential_fn: CredentialFunction | None = None) -> None:
        self.config: dict[str, Any] = config or {}
        self._credential_fn = credential_fn

    @property
    def manifest(self) -> dict[str, Any]:
        """What `manifest.yaml` says."""
        return {}

    def credential(self, key: str) -> str | None:
        """From `credential_fn`, else `config`, else the environment of this process."""
        asked = self._credential_fn(key) if self._credential_fn is not None else None
        for value in (asked, self.config.get(key), os.environ.get(key)):
            if value is not None and str(value).strip():
                return str(value).strip()
        return None

    @property
    def shape(self) -> str:
        """atomic, workflow, middleware or stream."""
        return str(self.manifest.get("shape") or "atomic").strip().lower()

    @property
    def tier(self) -> str:
        """core, cloud or enterprise: where it is deployed. Not the tier that isolates it."""
        return str(self.manifest.get("tier") or "core").strip().lower()

    @property
    def target(self) -> list[str]:
        """software, hardware, bioware."""
        named: list[Any] = self.manifest.get("target") or ["software"]
        return [str(one).strip().lower() for one in named]

    @property
    def tags(self) -> list[str]:
        """What it is found by."""
        named: list[Any] = self.manifest.get("tags") or []
        return [str(one).strip().lower() for one in named]


class PlainLoader:
    """As much of `SkillLoader` as needs no skill: adapters of a bundle's manifest."""

    @staticmethod
    def get_skill_class(skill_bundle: Mapping[str, Any]) -> Any:
        """The class of a bundle."""
        if skill_bundle.get("class") is None:
            raise KeyError("the bundle has no class: it was loaded with execute_module=False")
        return skill_bundle["class"]

    @staticmethod
    def resolve_env_vars(manifest: Mapping[str, Any], provider: SecretProvider | None = None) -> dict[str, str]:
        """The credentials that the manifest names, of a provider or of the environment."""
        found = {name: provider.get(name) if provider else os.environ.get(name) for name in variable_names(manifest)}
        return {name: value.strip() for name, value in found.items() if value and value.strip()}

    @staticmethod
    def to_claude_tool(skill_bundle: Mapping[str, Any]) -> dict[str, Any]:
        """For Anthropic's Messages API."""
        name, description, parameters = _parts_of(skill_bundle)
        return {"name": name, "description": description, "input_schema": parameters}

    @staticmethod
    def to_openai_tool(skill_bundle: Mapping[str, Any]) -> dict[str, Any]:
        """For OpenAI's Chat Completions."""
        name, description, parameters = _parts_of(skill_bundle)
        return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}

    @staticmethod
    def to_deepseek_tool(skill_bundle: Mapping[str, Any]) -> dict[str, Any]:
        """For DeepSeek, whose form is OpenAI's."""
        return PlainLoader.to_openai_tool(skill_bundle)

    @staticmethod
    def to_bedrock_tool(skill_bundle: Mapping[str, Any]) -> dict[str, Any]:
        """For Converse of AWS Bedrock."""
        name, description, parameters = _parts_of(skill_bundle)
        return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": parameters}}}

    @staticmethod
    def to_gemini_tool(skill_bundle: Mapping[str, Any]) -> Any:
        """For Gemini; needs the package `google-genai`."""
        types: Any = importlib.import_module("google.genai.types")
        name, description, parameters = _parts_of(skill_bundle)
        declared = {"name": name, "description": description, "parameters": _upper_types(parameters)}
        return types.Tool(function_declarations=[types.FunctionDeclaration.model_validate(declared)])

    @staticmethod
    def to_ollama_prompt(skill_bundle: Mapping[str, Any]) -> str:
        """For models without tools: a part of the system prompt."""
        manifest = skill_bundle.get("manifest", {})
        parameters = manifest.get("parameters", {})
        required = parameters.get("required", [])
        lines = [
            f"- `{name}` ({one.get('type', 'any')}): {one.get('description', '')} "
            f"[{'Required' if name in required else 'Optional'}]\n"
            for name, one in parameters.get("properties", {}).items()
        ]
        head = f"### Tool: `{manifest.get('name', 'unknown_tool')}`\n"
        return f"{head}**Description:** {manifest.get('description', '').strip()}\n**Parameters:**\n" + (
            "".join(lines) or "- None\n"
        )


def _parts_of(skill_bundle: Mapping[str, Any]) -> tuple[str, Any, Any]:
    manifest = skill_bundle.get("manifest", {})
    safe = re.sub("_+", "_", _NOT_IN_NAMES.sub("_", str(manifest.get("name") or ""))).strip("_")
    return safe[:64] or "unknown_tool", manifest.get("description", ""), manifest.get("parameters", {})


def _upper_types(schema: Mapping[str, Any]) -> dict[str, Any]:
    changed = dict(schema)
    if isinstance(changed.get("type"), str):
        changed["type"] = changed["type"].upper()
    if isinstance(changed.get("properties"), dict):
        changed["properties"] = {name: _upper_types(one) for name, one in changed["properties"].items()}
    return changed
