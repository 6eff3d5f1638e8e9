GREETING = "hello"

from .skill import PackageInit  # noqa: E402
