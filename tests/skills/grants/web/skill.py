"""Makes requests with whichever library it is told to use, and tells what came of them."""

import asyncio
import http.client
import socket
import urllib.error
import urllib.request

import requests
from skillware.core.base_skill import BaseSkill


def _urllib(url, method, body, timeout):
    request = urllib.request.Request(url, data=body, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def _http_client(url, method, body, timeout):
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=timeout)
    connection.request(method, "/" + path, body)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def _requests(url, method, body, timeout):
    answer = requests.request(method, url, data=body, timeout=timeout)
    return answer.status_code, answer.text


def _session(url, method, body, timeout):
    with requests.Session() as session:
        answers = [session.request(method, url, data=body, timeout=timeout) for _ in range(3)]
    return answers[-1].status_code, "|".join(answer.text for answer in answers)


def _asyncio(url, method, body, timeout, connect=lambda host: asyncio.open_connection(host, 80)):
    async def ask():
        host, _, path = url.removeprefix("http://").partition("/")
        reader, writer = await connect(host)
        writer.write(f"{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        answer = (await reader.read()).decode()
        writer.close()
        head, _, text = answer.partition("\r\n\r\n")
        return int(head.split()[1]), text

    return asyncio.run(asyncio.wait_for(ask(), timeout))


def _own_socket(url, method, body, timeout):
    """Connects a socket in the event loop before it makes a connection of it, as aiohttp does."""

    async def connect(host):
        loop = asyncio.get_running_loop()
        address = (await loop.getaddrinfo(host, 80))[0][4]
        sock = socket.socket()
        sock.setblocking(False)
        await loop.sock_connect(sock, address)
        return await asyncio.open_connection(sock=sock)

    return _asyncio(url, method, body, timeout, connect)


def _both(urls, method, body, timeout):
    """Looks all names up before it connects to the first."""
    split = [url.removeprefix("http://").partition("/") for url in urls.split()]
    found = [(host, path, socket.getaddrinfo(host, 80)[0][4]) for host, _, path in split]
    told = []
    for host, path, address in found:
        connection = http.client.HTTPConnection(host, timeout=timeout)
        connection.sock = socket.socket()
        connection.sock.connect(address)
        connection.request(method, "/" + path, body)
        told.append(f"{host} {connection.getresponse().status}")
    return 200, "|".join(told)


WAYS = {
    "urllib": _urllib, "http.client": _http_client, "requests": _requests, "session": _session,
    "asyncio": _asyncio, "own socket": _own_socket, "both": _both,
}  # fmt: skip


class WebSkill(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        body = params.get("body")
        try:
            status, text = WAYS[params["way"]](
                params["url"], params.get("method", "GET"), body.encode() if body is not None else None,
                params.get("timeout", 20),
            )  # fmt: skip
            return {"status": status, "text": text}
        except Exception as error:
            return {"error": f"{type(error).__module__}.{type(error).__name__}", "why": str(error)}
