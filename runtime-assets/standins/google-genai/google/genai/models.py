"""What can be asked of models."""

from . import types
from ._model import Model, camel


def _config(config, kind):
    if config is None:
        return kind()
    return kind(**config) if isinstance(config, dict) else config


def _path(model, verb):
    model = model if "/" in model else f"models/{model}"
    return f"{model}:{verb}"


def _body(contents, config):
    if any(callable(tool) and not isinstance(tool, Model) for tool in config.tools or []):
        raise NotImplementedError(
            "not available in a skillcell cell: Python functions as tools, with google-genai's stand-in; "
            "declare them as types.FunctionDeclaration"
        )
    body = {"contents": types.to_contents(contents)}
    generation = {}
    for name, value in vars(config).items():
        if value is None or name in types.OF_CLIENT:
            continue
        if name == "system_instruction":
            value = value if isinstance(value, types.Content) else types.UserContent(value)
        if name == "response_schema":
            value = _schema(value)
        (body if name in types.OF_REQUEST else generation)[camel(name)] = value
    if generation:
        body["generationConfig"] = generation
    return body


def _schema(value):
    if isinstance(value, (dict, types.Schema)):
        return value
    raise NotImplementedError(
        "not available in a skillcell cell: a class as response_schema, with google-genai's stand-in; "
        "give a dictionary, or response_json_schema=YourModel.model_json_schema()"
    )


class Models:
    """`client.models`."""

    def __init__(self, api):
        self._api = api

    def generate_content(self, *, model, contents, config=None):
        config = _config(config, types.GenerateContentConfig)
        answer = self._api.request("POST", _path(model, "generateContent"), _body(contents, config), config.http_options)
        return self._response(answer, config)

    def generate_content_stream(self, *, model, contents, config=None):
        config = _config(config, types.GenerateContentConfig)
        path = _path(model, "streamGenerateContent") + "?alt=sse"
        for answer in self._api.request("POST", path, _body(contents, config), config.http_options, stream=True):
            yield self._response(answer, config)

    def _response(self, answer, config):
        response = types.GenerateContentResponse.model_validate(answer)
        types.parse(response, config.response_schema or config.response_json_schema)
        return response

    def count_tokens(self, *, model, contents, config=None):
        config = _config(config, types.CountTokensConfig)
        body = {"contents": types.to_contents(contents)}
        answer = self._api.request("POST", _path(model, "countTokens"), body, config.http_options)
        return types.CountTokensResponse.model_validate(answer)

    def embed_content(self, *, model, contents, config=None):
        config = _config(config, types.EmbedContentConfig)
        name = model if "/" in model else f"models/{model}"
        settings = {camel(k): v for k, v in vars(config).items() if v is not None and k != "http_options"}
        texts = contents if isinstance(contents, (list, tuple)) else [contents]
        requests = [{"model": name, "content": types.to_contents(text)[0], **settings} for text in texts]
        answer = self._api.request("POST", _path(model, "batchEmbedContents"), {"requests": requests}, config.http_options)
        return types.EmbedContentResponse.model_validate(answer)

    def get(self, *, model, config=None):
        return types.ModelInfo.model_validate(self._api.request("GET", model if "/" in model else f"models/{model}"))

    def list(self, *, config=None):
        token = ""
        while True:
            answer = self._api.request("GET", f"models?pageSize=100{token}")
            yield from (types.ModelInfo.model_validate(found) for found in answer.get("models", []))
            if not answer.get("nextPageToken"):
                return
            token = f"&pageToken={answer['nextPageToken']}"


class AsyncModels:
    """`client.aio.models`."""

    def __init__(self, api):
        self._models = Models(api)

    async def generate_content(self, **kwargs):
        return self._models.generate_content(**kwargs)

    async def generate_content_stream(self, **kwargs):
        async def answers():
            for answer in self._models.generate_content_stream(**kwargs):
                yield answer

        return answers()

    async def count_tokens(self, **kwargs):
        return self._models.count_tokens(**kwargs)

    async def embed_content(self, **kwargs):
        return self._models.embed_content(**kwargs)

    async def get(self, **kwargs):
        return self._models.get(**kwargs)
