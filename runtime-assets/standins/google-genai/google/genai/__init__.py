"""A stand-in for google-genai, whose pydantic-core is native code: Gemini's REST interface, with an API key."""

from . import chats, errors, models, types
from .client import Client

__version__ = "3.1.0"
__all__ = ["Client", "chats", "errors", "models", "types"]
