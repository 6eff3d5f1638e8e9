"""URLs."""

from .errors import fail
from .shown import listed
from .state import LAX, kind, named
from .urls import MultiHostUrl, Url


def _url(cls, other):
    def maker(schema, build):
        longest, schemes = schema.get("max_length"), schema.get("allowed_schemes")
        strict = build.setting(schema, "strict", default=False)
        preserve = build.setting(schema, "preserve_empty_path", "url_preserve_empty_path", False)
        required = schema.get("host_required", False)
        defaults = {part: schema.get(f"default_{part}") for part in ("host", "port", "path")}

        def validate(value, state):
            if isinstance(value, cls):
                url = value
            elif isinstance(value, (str, other)) or hasattr(value, "_url") and not state.strictly(strict):
                state.floor(LAX)
                try:
                    url = cls(str(value), preserve_empty_path=preserve)
                except (ValueError, UnicodeError) as problem:
                    raise fail("url_parsing", value, error=str(problem)) from None
                url = _filled(url, preserve)
            else:
                raise fail("url_type", value)
            if longest is not None and len(str(url)) > longest:
                raise fail("url_too_long", value, max_length=longest)
            if schemes and url.scheme not in schemes:
                raise fail("url_scheme", value, expected_schemes=listed(schemes))
            if required and not (url.host if cls is Url else url.hosts()[0]["host"]):
                raise fail("url_parsing", value, error="empty host")
            return url

        def _filled(url, preserve):
            if cls is not Url or not any(defaults.values()):
                return url
            parts = {
                "host": url.host or defaults["host"],
                "port": url._port if url._port is not None else defaults["port"],
                "path": url.path if url.path and url.path != "/" else defaults["path"] or url.path,
            }
            if not parts["host"]:
                return url
            user = (url.username or "") + (f":{url.password}" if url.password else "")
            text = f"{url.scheme}://{user + '@' if user else ''}{parts['host']}"
            text += f":{parts['port']}" if parts["port"] is not None else ""
            text += parts["path"] or ""
            text += f"?{url.query}" if url.query is not None else ""
            return cls(text + (f"#{url.fragment}" if url.fragment is not None else ""), preserve_empty_path=preserve)

        return named(validate, "url" if cls is Url else "multi-host-url")

    return maker


kind("url")(_url(Url, MultiHostUrl))
kind("multi-host-url")(_url(MultiHostUrl, Url))
