"""The client: the key, the address, one request."""

import json
import os
import urllib.error
import urllib.request

from . import errors, types
from ._model import wire
from .chats import AsyncChats, Chats
from .models import AsyncModels, Models

_ADDRESS = "https://generativelanguage.googleapis.com"


class _Api:
    """Sends requests, and reads answers."""

    def __init__(self, api_key, options):
        self._key, self._options = api_key, options

    def request(self, method, path, body=None, options=None, stream=False):
        options = [found for found in (options, self._options) if found]
        first = lambda name, default=None: next((v for o in options if (v := getattr(o, name)) is not None), default)
        address = first("base_url") or os.environ.get("GOOGLE_GEMINI_BASE_URL") or _ADDRESS
        headers = {"Content-Type": "application/json", "x-goog-api-key": self._key}
        for found in reversed(options):
            headers.update(found.headers or {})
        body = None if body is None else {**body, **(first("extra_body") or {})}
        request = urllib.request.Request(
            f"{address.rstrip('/')}/{first('api_version', 'v1')}/{path}",
            data=None if body is None else json.dumps(wire(body)).encode(),
            headers=headers,
            method=method,
        )
        timeout = first("timeout")
        try:
            answer = urllib.request.urlopen(request, timeout=timeout / 1000 if timeout else None)
        except urllib.error.HTTPError as refused:
            raise errors.of(refused.code, _read(refused.read(), refused.reason)) from None
        if stream:
            return _events(answer)
        with answer:
            return _read(answer.read())


def _read(data, reason=None):
    try:
        return json.loads(data)
    except ValueError:
        if reason is None:
            raise errors.UnknownApiResponseError(f"Failed to parse response as JSON: {data[:200]!r}") from None
        return {"message": data.decode("utf-8", "replace"), "status": reason}


def _events(answer):
    with answer:
        for line in answer:
            if line.startswith(b"data:"):
                yield _read(line[5:].strip())


class AsyncClient:
    """`client.aio`: the same calls, awaited. Each runs as a whole when it is awaited."""

    def __init__(self, api):
        self.models = AsyncModels(api)
        self.chats = AsyncChats(self.models)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    async def aclose(self):
        pass


class Client:
    """A client of the Gemini interface with an API key."""

    vertexai = False

    def __init__(self, *, api_key=None, vertexai=None, http_options=None, **others):
        if vertexai or any(others.get(name) for name in ("credentials", "project", "location", "enterprise")):
            raise NotImplementedError("not available in a skillcell cell: Vertex AI, with google-genai's stand-in")
        api_key = api_key or os.environ.get("GOOGLE_API_KEY") or os.environ.get("GEMINI_API_KEY")
        if not api_key:
            raise ValueError("No API key was provided. Please pass a valid API key.")
        if isinstance(http_options, dict):
            http_options = types.HttpOptions(**http_options)
        api = _Api(api_key, http_options)
        self.models = Models(api)
        self.chats = Chats(self.models)
        self.aio = AsyncClient(api)

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __getattr__(self, name):
        if name in ("files", "caches", "batches", "tunings", "live", "operations", "file_search_stores", "interactions"):
            raise NotImplementedError(f"not available in a skillcell cell: client.{name}, with google-genai's stand-in")
        raise AttributeError(f"'Client' object has no attribute '{name}'")
