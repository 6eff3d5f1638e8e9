"""TLS for libraries that keep it apart from their sockets (`SSLContext.wrap_bio`: anyio, and so httpx).

The host speaks TLS, outside. So what such a library hands on is not encrypted, and its handshake is one message to our
own transport, which asks the host for TLS, and one back. Neither leaves the cell. HTTP can't begin with their first byte.

    hello   0x16 "skillcell" <name> "\\n"
    reply   0x16 <how> <u16 length> <text>
"""

_HELLO = b"\x16skillcell "
_DONE, _FAILED, _NOT_TRUSTED, _TIMED_OUT = range(4)


def hello(name):
    return _HELLO + (name or "").encode() + b"\n"


def name_in(data):
    """The name that TLS is asked for, where this is a hello; empty for the connection's own."""
    return bytes(data[len(_HELLO) : -1]).decode() if bytes(data[: len(_HELLO)]) == _HELLO else None


def reply(error=None):
    import ssl

    kinds = ((type(None), _DONE), (TimeoutError, _TIMED_OUT), (ssl.SSLCertVerificationError, _NOT_TRUSTED))
    how = next((how for kind, how in kinds if isinstance(error, kind)), _FAILED)
    text = str(getattr(error, "strerror", None) or error or "").encode()[:60_000]
    return bytes([_HELLO[0], how]) + len(text).to_bytes(2, "little") + text


def read_reply(incoming):
    """Takes a reply from a `MemoryBIO`. Gives whether it was there; raises what it tells of."""
    import ssl

    if incoming.pending < 4:
        if incoming.eof:
            raise ssl.SSLEOFError(8, "EOF occurred in violation of protocol")
        return False
    head = incoming.read(4)
    text = incoming.read(int.from_bytes(head[2:], "little")).decode("utf-8", "replace")
    if head[1] == _TIMED_OUT:
        raise TimeoutError("timed out")
    if head[1] == _NOT_TRUSTED:
        raise ssl.SSLCertVerificationError(1, text)
    if head[1] == _FAILED:
        raise ssl.SSLError(1, text)
    return True
