"""Does the same things with each HTTP library, as its users do, and tells what came of it."""

import asyncio
import http.client
import http.cookiejar
import time
import urllib.error
import urllib.parse
import urllib.request

import httpx
import requests
from skillware.core.base_skill import BaseSkill

PIECES = [b"one ", b"two ", b"three"]


class Urllib:
    def get(self, url, timeout):
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return {"status": answer.status, "text": answer.read().decode(), "url": answer.url}

    def download(self, url, timeout):
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return _sizes(iter(lambda: answer.read(50_000), b""))

    def upload(self, url, timeout):
        request = urllib.request.Request(url, data=iter(PIECES), method="POST")
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return {"text": answer.read().decode()}

    def session(self, url, timeout):
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        texts = [opener.open(each, timeout=timeout).read().decode() for each in _session(url)]
        return {"texts": texts}


class HttpClient:
    def _ask(self, url, timeout, method="GET", body=None, **more):
        parts = urllib.parse.urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.netloc, timeout=timeout)
        connection.request(method, parts.path, body, **more)
        return connection.getresponse()

    def get(self, url, timeout):
        answer = self._ask(url, timeout)
        return {"status": answer.status, "text": answer.read().decode(), "url": url}

    def form(self, url, timeout):
        answer = self._ask(url, timeout)
        return _form(answer, answer.version, answer.getheaders(), answer.read())

    def download(self, url, timeout):
        answer = self._ask(url, timeout)
        return _sizes(iter(lambda: answer.read1(50_000), b""))

    def upload(self, url, timeout):
        answer = self._ask(url, timeout, "POST", iter(PIECES), encode_chunked=True)
        return {"text": answer.read().decode()}


class Requests:
    def get(self, url, timeout):
        answer = requests.get(url, timeout=timeout)
        return {"status": answer.status_code, "text": answer.text, "url": answer.url}

    def form(self, url, timeout):
        answer = requests.get(url, timeout=timeout, stream=True).raw
        return _form(answer, answer.version, answer.headers.items(), answer.read())

    def pieces(self, url, timeout):
        with requests.get(url, timeout=timeout, stream=True) as answer:
            return [piece.decode() for piece in answer.iter_content(None)]

    def download(self, url, timeout):
        with requests.get(url, timeout=timeout, stream=True) as answer:
            return _sizes(answer.iter_content(50_000))

    def upload(self, url, timeout):
        return {"text": requests.post(url, data=iter(PIECES), timeout=timeout).text}

    def session(self, url, timeout):
        with requests.Session() as session:
            texts = [session.get(each, timeout=timeout).text for each in _session(url)]
            pools = session.get_adapter(url).poolmanager.pools
            return {"texts": texts, "connections": sum(pools[key].num_connections for key in pools.keys())}


class Httpx:
    def get(self, url, timeout):
        answer = httpx.get(url, timeout=timeout, follow_redirects=True)
        return {"status": answer.status_code, "text": answer.text, "url": str(answer.url)}

    def download(self, url, timeout):
        with httpx.stream("GET", url, timeout=timeout) as answer:
            return _sizes(answer.iter_bytes(50_000))

    def upload(self, url, timeout):
        return {"text": httpx.post(url, content=iter(PIECES), timeout=timeout).text}

    def session(self, url, timeout):
        made = []
        with httpx.Client(timeout=timeout) as client:
            trace = {"trace": lambda name, info: made.append(name)}
            texts = [client.get(each, extensions=trace).text for each in _session(url)]
        return {"texts": texts, "connections": made.count("connection.connect_tcp.started")}


class HttpxAsync:
    def _run(self, work, timeout):
        async def run():
            async with httpx.AsyncClient(timeout=timeout, follow_redirects=True) as client:
                return await work(client)

        return asyncio.run(run())

    def get(self, url, timeout):
        async def work(client):
            answer = await client.get(url)
            return {"status": answer.status_code, "text": answer.text, "url": str(answer.url)}

        return self._run(work, timeout)

    def download(self, url, timeout):
        async def work(client):
            async with client.stream("GET", url) as answer:
                return _sizes([piece async for piece in answer.aiter_bytes(50_000)])

        return self._run(work, timeout)

    def upload(self, url, timeout):
        async def pieces():
            for piece in PIECES:
                yield piece

        async def work(client):
            return {"text": (await client.post(url, content=pieces())).text}

        return self._run(work, timeout)

    def session(self, url, timeout):
        made = []

        async def trace(name, info):
            made.append(name)

        async def work(client):
            texts = [(await client.get(each, extensions={"trace": trace})).text for each in _session(url)]
            return {"texts": texts, "connections": made.count("connection.connect_tcp.started")}

        return self._run(work, timeout)

    def together(self, url, timeout):
        """Several requests at once, to one host or, separated by spaces, to several."""

        async def work(client):
            started = time.monotonic()
            answers = await asyncio.gather(*(client.get(each) for each in url.split(" ")))
            return {"texts": [answer.text for answer in answers], "seconds": time.monotonic() - started}

        return self._run(work, timeout)

    def beside(self, url, timeout):
        """A request, and a task that goes on while it waits for its answer."""
        ticks = []

        async def tick():
            while True:
                await asyncio.sleep(0.02)
                ticks.append(1)

        async def work(client):
            other = asyncio.create_task(tick())
            text = (await client.get(url)).text
            other.cancel()
            return {"text": text, "ticks": len(ticks)}

        return self._run(work, timeout)

    def cancelled(self, url, timeout):
        async def work(client):
            started = time.monotonic()
            try:
                await asyncio.wait_for(client.get(url), 0.2)
            except TimeoutError:
                return {"seconds": time.monotonic() - started}

        return self._run(work, timeout)


def _session(url):
    return [f"{url}/cookie", f"{url}/seen", f"{url}/seen"]


def _form(answer, version, headers, body):
    return {
        "status": answer.status, "reason": answer.reason, "version": version, "headers": list(headers),
        "text": body.decode(),
    }  # fmt: skip


def _sizes(pieces):
    sizes = [len(piece) for piece in pieces]
    return {"bytes": sum(sizes), "several": len(sizes) > 1}


LIBRARIES = {
    "urllib": Urllib(), "http.client": HttpClient(), "requests": Requests(), "httpx": Httpx(),
    "httpx.AsyncClient": HttpxAsync(),
}  # fmt: skip


class Libraries(BaseSkill):
    manifest = {}

    def execute(self, params):
        do = getattr(LIBRARIES[params["library"]], params["do"])
        try:
            return do(params["url"], params.get("timeout", 20))
        except Exception as error:
            kinds = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__]
            reason = getattr(error, "reason", None)
            return {"kinds": kinds, "why": str(error), "reason": type(reason).__name__}
