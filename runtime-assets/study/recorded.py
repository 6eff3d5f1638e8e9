"""Answers a process's HTTP requests as recorded, from servers on loopback in the same process.

`answer(case)` replaces where recorded names and addresses lead to; nothing leaves the machine. TLS is left out: what is
asked for by https arrives in the clear. Names resolve to public addresses, since skills look at them before they ask.
"""

import http.server
import ipaddress
import socket
import ssl
import threading
import urllib.parse


def answer(case):
    """Starts a server for each origin of `case["http"]`; gives the list that the requests are added to."""
    requests, routes, names = [], {}, {}
    for one in case.get("http", []):
        url = urllib.parse.urlsplit(one["url"])
        port = url.port or {"https": 443, "http": 80}[url.scheme]
        address = names.setdefault(url.hostname, address_of(url.hostname, len(names)))
        if (address, port) not in routes:
            routes[address, port] = start_server(url.scheme, case["http"], requests)
    if routes:
        redirect(routes, names)
    return requests


def how_it_ended(result):
    """Of a call that returned this. The same rule is in `crates/study/src/matrix/cases.rs`."""
    says_so = isinstance(result, dict) and (
        result.get("status") in ("error", "blocked", "failed") or result.get("success") is False or result.get("error")
    )
    return "reports an error" if says_so else "succeeds"


def address_of(name, index):
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return f"93.184.216.{100 + index}"


def start_server(scheme, answers, requests):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode("utf-8", "replace")
            url = f"{scheme}://{self.headers['Host']}{self.path}"
            requests.append({"method": self.command, "url": url, "body": body or None})
            found = next((one for one in answers if fits(one, self.command, url, body)), None)
            found = found or {"status": 500, "body": f"{self.command} {url} is not recorded"}
            content = found.get("body", "").encode()
            self.send_response_only(found["status"], "Recorded")
            for name, value in {"Content-Length": str(len(content)), **found.get("headers", {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PUT = do_HEAD = do_DELETE = do_GET

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address


def fits(one, method, url, body):
    return (
        one["method"] == method
        and (url.startswith(one["url"]) if one.get("prefix") else url == one["url"])
        and one.get("asks", "") in body
    )


def redirect(routes, names):
    resolve, connect = socket.getaddrinfo, socket.socket.connect
    socket.getaddrinfo = lambda host, *args, **more: resolve(names.get(host, host), *args, **more)
    socket.socket.connect = lambda self, address: connect(self, routes.get(address[:2], address))
    ssl.SSLContext.wrap_socket = lambda self, sock, *_, **__: sock
