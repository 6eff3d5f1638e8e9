"""URLs: taken apart, and put together in one normal form."""

import re
from functools import total_ordering
from urllib.parse import parse_qsl, quote

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
_SPECIAL = {*_PORTS, "file"}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PATH_SAFE = "%/:@!$&'()*+,;=~-._|[]^"
_QUERY_SAFE = "%/:@!$&()*+,;=~-._?|[]^`{}\\"


def _split(text):
    """(scheme, authority or None, path, query, fragment); ValueError says why not."""
    text = text.strip().replace("\t", "").replace("\n", "").replace("\r", "")
    if not text:
        raise ValueError("input is empty")
    found = _SCHEME.match(text)
    if not found:
        raise ValueError("relative URL without a base")
    scheme, rest = found[1].lower(), text[found.end() :]
    rest, _, fragment = rest.partition("#")
    rest, mark, query = rest.partition("?")
    special = scheme in _SPECIAL
    if special:
        rest = rest.replace("\\", "/")
    authority = None
    if special and scheme != "file":
        authority, _, path = rest.lstrip("/").partition("/")
        path = "/" + path
        if not authority:
            raise ValueError("empty host")
    elif rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path if slash else "/" if special else ""
    else:
        path = rest
    return scheme, authority, path, query if mark else None, fragment if "#" in text else None


def _dots(path):
    """A path without `.` and `..`."""
    parts = []
    pieces = path.split("/")[1:]
    for index, piece in enumerate(pieces):
        last = index == len(pieces) - 1
        if piece.lower() in ("..", "%2e%2e"):
            parts = parts[:-1]
            if last:
                parts.append("")
        elif piece.lower() in (".", "%2e"):
            if last:
                parts.append("")
        else:
            parts.append(piece)
    return "/" + "/".join(parts)


def _host(text, special):
    """(host in ASCII, port or None)."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]*)(?::(\d*))?", text)
    if not found:
        raise ValueError("invalid IPv6 address" if "[" in text else "invalid port number")
    host, port = found[1], found[2]
    if port and int(port) > 65535:
        raise ValueError("invalid port number")
    if special:
        if re.search(r"[\s#%/<>?@\\^|]", host):
            raise ValueError("invalid international domain name")
        host = host.lower()
        if not host.isascii():
            host = host.encode("idna").decode()
        if re.fullmatch(r"[0-9.]+", host) and not re.fullmatch(r"(\d{1,3}\.){3}\d{1,3}", host):
            raise ValueError("invalid IPv4 address")
    if special and not host:
        raise ValueError("empty host")
    return host, int(port) if port else None


def _user(text):
    user, _, rest = text.rpartition("@")
    name, colon, password = user.partition(":")
    return (quote(name, safe="%!$&'()*+,;=~-._") or None if user else None, quote(password, safe="%!$&'()*+,;=~-._") if colon and password else None, rest)


@total_ordering
class _Common:
    """What both kinds of URL have."""

    def __str__(self):
        return self._text

    def unicode_string(self):
        return self._unicode()

    def query_params(self):
        return parse_qsl(self.query or "", keep_blank_values=True)

    def __repr__(self):
        return f"{type(self).__name__}('{self._text}')"

    def __eq__(self, other):
        return self._text == other._text if isinstance(other, type(self)) else NotImplemented

    def __lt__(self, other):
        return self._text < other._text if isinstance(other, type(self)) else NotImplemented

    def __hash__(self):
        return hash(self._text)

    def __bool__(self):
        return True

    def __deepcopy__(self, memo):
        return type(self)(self._text)

    def __reduce__(self):
        return type(self), (self._text,)

    def _take(self, path, query, fragment, special, preserve):
        if special:
            path = "" if preserve and path == "/" and self._bare else _dots(path)
        self.path = quote(path, safe=_PATH_SAFE) or None
        self.query = None if query is None else quote(query, safe=_QUERY_SAFE)
        self.fragment = None if fragment is None else quote(fragment, safe=_QUERY_SAFE)

    def _tail(self):
        text = self.path or ""
        text += "" if self.query is None else f"?{self.query}"
        return text + ("" if self.fragment is None else f"#{self.fragment}")


def _unicode_host(host):
    if host and "xn--" in host:
        try:
            return host.encode().decode("idna")
        except UnicodeError:
            return host
    return host


class Url(_Common):
    """A URL with one host, or none."""

    def __init__(self, url, *, preserve_empty_path=False):
        self.scheme, authority, path, query, fragment = _split(str(url))
        special = self.scheme in _SPECIAL
        self._bare = authority is not None and path == "/" and not re.search(r"/[?#]|/$", str(url).strip()[len(self.scheme) + 3 :])
        self.username = self.password = self.host = self._port = None
        if authority is not None:
            self.username, self.password, rest = _user(authority)
            host, self._port = _host(rest, special and self.scheme != "file")
            self.host = host or None
        self._take(path, query, fragment, special, preserve_empty_path)
        start = f"{self.scheme}:"
        if authority is not None:
            user = self.username or ""
            user += f":{self.password}" if self.password else ""
            shown = self._port is not None and self._port != _PORTS.get(self.scheme)
            start += f"//{user + '@' if user else ''}{self.host or ''}{f':{self._port}' if shown else ''}"
        self._text = start + self._tail()

    @property
    def port(self):
        return self._port if self._port is not None else _PORTS.get(self.scheme)

    def unicode_host(self):
        return _unicode_host(self.host)

    def _unicode(self):
        host = self.unicode_host()
        return self._text if host == self.host else self._text.replace(self.host, host, 1)

    @classmethod
    def build(cls, *, scheme, host, username=None, password=None, port=None, path=None, query=None, fragment=None):
        user = (quote(username, safe="") if username else "") + (f":{quote(password, safe='')}" if password else "")
        text = f"{scheme}://{user + '@' if user else ''}{host}{f':{port}' if port is not None else ''}"
        text += f"/{path.removeprefix('/')}" if path else ""
        text += f"?{query}" if query is not None else ""
        return cls(text + (f"#{fragment}" if fragment is not None else ""))


class MultiHostUrl(_Common):
    """A URL with several hosts, as databases have them."""

    def __init__(self, url, *, preserve_empty_path=False):
        text = str(url)
        self.scheme, authority, path, query, fragment = _split(text)
        if not authority:
            raise ValueError("empty host")
        special = self.scheme in _SPECIAL
        self._bare, self._hosts = False, []
        for part in authority.split(","):
            name, password, rest = _user(part)
            host, port = _host(rest, special)
            if not host and not special and len(authority.split(",")) > 1:
                raise ValueError("empty host")
            self._hosts.append({"username": name, "password": password, "host": host or None, "port": port if port is not None else _PORTS.get(self.scheme)})
        self._take(path, query, fragment, special, preserve_empty_path)
        self._text = f"{self.scheme}://{authority}{self._tail()}"

    def hosts(self):
        return [dict(host) for host in self._hosts]

    def _unicode(self):
        return self._text

    @classmethod
    def build(
        cls, *, scheme, hosts=None, username=None, password=None, host=None, port=None, path=None, query=None, fragment=None,
    ):
        hosts = hosts or [{"username": username, "password": password, "host": host, "port": port}]
        shown = []
        for found in hosts:
            user = (found.get("username") or "") + (f":{found['password']}" if found.get("password") else "")
            port_text = f":{found['port']}" if found.get("port") else ""
            shown.append(f"{user + '@' if user else ''}{found.get('host') or ''}{port_text}")
        text = f"{scheme}://{','.join(shown)}" + (f"/{path.removeprefix('/')}" if path else "")
        text += f"?{query}" if query is not None else ""
        return cls(text + (f"#{fragment}" if fragment is not None else ""))
