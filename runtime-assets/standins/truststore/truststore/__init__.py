"""A stand-in for truststore, which has certificates verified by the system.

In a cell that is so already: TLS is the host's, and it always verifies. The package itself needs OpenSSL.
"""

import ssl

__version__ = "0.10.5"
__all__ = ["SSLContext", "extract_from_ssl", "inject_into_ssl"]


class SSLContext(ssl.SSLContext):
    """A context of the cell's `ssl`."""


def inject_into_ssl():
    """Nothing has to be replaced."""


def extract_from_ssl():
    """Nothing was replaced."""
