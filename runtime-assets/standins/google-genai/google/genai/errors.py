"""What the interface answers when it refuses."""


class APIError(Exception):
    """An answer that is no success."""

    def __init__(self, code, response_json, response=None):
        self.details, self.response = response_json, response
        found = response_json if isinstance(response_json, dict) else {}
        found = found.get("error", found)
        self.code = code or found.get("code")
        self.status, self.message = found.get("status"), found.get("message")
        super().__init__(f"{self.code} {self.status}. {self.details}")


class ClientError(APIError):
    """4xx."""


class ServerError(APIError):
    """5xx."""


class UnknownApiResponseError(ValueError):
    """An answer that is not JSON."""


def of(code, body):
    return (ClientError if 400 <= code < 500 else ServerError if 500 <= code < 600 else APIError)(code, body)
