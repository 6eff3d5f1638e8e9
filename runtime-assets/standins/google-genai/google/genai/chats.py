"""Conversations: the history is kept here and sent with each message."""

from . import types


class Chat:
    """One conversation."""

    def __init__(self, models, model, config=None, history=None):
        self._models, self._model, self._config = models, model, config
        self._history = [types.Content.model_validate(content) for content in history or []]

    def get_history(self, curated=False):
        return list(self._history)

    def _ask(self, message, config):
        contents = [*self._history, types.UserContent(message)]
        return {"model": self._model, "contents": contents, "config": config or self._config}

    def _keep(self, asked, parts):
        self._history = [*asked["contents"], types.Content(role="model", parts=parts)]

    def send_message(self, message, config=None):
        asked = self._ask(message, config)
        response = self._models.generate_content(**asked)
        self._keep(asked, response.parts or [])
        return response

    def send_message_stream(self, message, config=None):
        asked, parts = self._ask(message, config), []
        for response in self._models.generate_content_stream(**asked):
            parts += response.parts or []
            yield response
        self._keep(asked, parts)


class AsyncChat(Chat):
    """One conversation, awaited."""

    async def send_message(self, message, config=None):
        asked = self._ask(message, config)
        response = await self._models.generate_content(**asked)
        self._keep(asked, response.parts or [])
        return response

    async def send_message_stream(self, message, config=None):
        async def answers():
            asked, parts = self._ask(message, config), []
            async for response in await self._models.generate_content_stream(**asked):
                parts += response.parts or []
                yield response
            self._keep(asked, parts)

        return answers()


class Chats:
    """`client.chats`."""

    _kind = Chat

    def __init__(self, models):
        self._models = models

    def create(self, *, model, config=None, history=None):
        return self._kind(self._models, model, config, history)


class AsyncChats(Chats):
    """`client.aio.chats`."""

    _kind = AsyncChat
