"""Stands for TLS, which a cell does not have: HTTPS is made by the host, outside.

Here are the names that HTTP and mail libraries use when they are imported and configured. Contexts keep what they are
told and check nothing: the host always verifies, whatever they say. Wrapping a client's socket tells the host to speak
TLS on it; anything else that needs TLS in the cell raises `SSLError`.
"""

import base64
import enum
import os
import re
import socket
from collections import namedtuple

from skillcell_guest.standins import handshake, missing

OPENSSL_VERSION = "OpenSSL 3.0.0 (skillcell stand-in, no TLS)"
OPENSSL_VERSION_INFO = (3, 0, 0, 0, 0)
OPENSSL_VERSION_NUMBER = 0x30000000
_DEFAULT_CIPHERS = "@SECLEVEL=2:DEFAULT"
_WHY = "HTTPS is made by the host, outside the cell"
HAS_SNI = HAS_ECDH = HAS_ALPN = HAS_TLSv1_2 = HAS_TLSv1_3 = HAS_NEVER_CHECK_COMMON_NAME = True
HAS_NPN = HAS_SSLv2 = HAS_SSLv3 = HAS_TLSv1 = HAS_TLSv1_1 = HAS_PSK = HAS_PHA = False
CHANNEL_BINDING_TYPES = ["tls-unique"]


class SSLError(OSError):
    library = reason = None


class SSLZeroReturnError(SSLError):
    pass


class SSLWantReadError(SSLError):
    pass


class SSLWantWriteError(SSLError):
    pass


class SSLSyscallError(SSLError):
    pass


class SSLEOFError(SSLError):
    pass


class SSLCertVerificationError(SSLError, ValueError):
    verify_code, verify_message = 0, ""


CertificateError = SSLCertVerificationError
socket_error = OSError


class _SSLMethod(enum.IntEnum):
    PROTOCOL_SSLv23 = PROTOCOL_TLS = 2
    PROTOCOL_TLSv1 = 3
    PROTOCOL_TLSv1_1 = 4
    PROTOCOL_TLSv1_2 = 5
    PROTOCOL_TLS_CLIENT = 16
    PROTOCOL_TLS_SERVER = 17


class TLSVersion(enum.IntEnum):
    MINIMUM_SUPPORTED = -2
    SSLv3 = 768
    TLSv1 = 769
    TLSv1_1 = 770
    TLSv1_2 = 771
    TLSv1_3 = 772
    MAXIMUM_SUPPORTED = -1


class VerifyMode(enum.IntEnum):
    CERT_NONE = 0
    CERT_OPTIONAL = 1
    CERT_REQUIRED = 2


class VerifyFlags(enum.IntFlag):
    VERIFY_DEFAULT = 0
    VERIFY_CRL_CHECK_LEAF = 4
    VERIFY_CRL_CHECK_CHAIN = 12
    VERIFY_X509_STRICT = 32
    VERIFY_ALLOW_PROXY_CERTS = 64
    VERIFY_X509_TRUSTED_FIRST = 32768
    VERIFY_X509_PARTIAL_CHAIN = 524288


class Options(enum.IntFlag):
    OP_ALL = 0x80000050
    OP_NO_SSLv2 = 0
    OP_NO_SSLv3 = 0x2000000
    OP_NO_TLSv1 = 0x4000000
    OP_NO_TLSv1_1 = 0x10000000
    OP_NO_TLSv1_2 = 0x8000000
    OP_NO_TLSv1_3 = 0x20000000
    OP_NO_COMPRESSION = 0x20000
    OP_NO_TICKET = 0x4000
    OP_NO_RENEGOTIATION = 0x40000000
    OP_CIPHER_SERVER_PREFERENCE = 0x400000
    OP_SINGLE_DH_USE = OP_SINGLE_ECDH_USE = 0
    OP_ENABLE_MIDDLEBOX_COMPAT = 0x100000
    OP_IGNORE_UNEXPECTED_EOF = 0x80
    OP_LEGACY_SERVER_CONNECT = 4
    OP_ENABLE_KTLS = 8


class SSLErrorNumber(enum.IntEnum):
    SSL_ERROR_SSL = 1
    SSL_ERROR_WANT_READ = 2
    SSL_ERROR_WANT_WRITE = 3
    SSL_ERROR_WANT_X509_LOOKUP = 4
    SSL_ERROR_SYSCALL = 5
    SSL_ERROR_ZERO_RETURN = 6
    SSL_ERROR_WANT_CONNECT = 7
    SSL_ERROR_EOF = 8
    SSL_ERROR_INVALID_ERROR_CODE = 10


for _names in (_SSLMethod, VerifyMode, VerifyFlags, Options, SSLErrorNumber):
    globals().update(_names.__members__)

_Object = namedtuple("_ASN1Object", "nid shortname longname oid")


class Purpose(_Object, enum.Enum):
    SERVER_AUTH = 129, "serverAuth", "TLS Web Server Authentication", "1.3.6.1.5.5.7.3.1"
    CLIENT_AUTH = 130, "clientAuth", "TLS Web Client Authentication", "1.3.6.1.5.5.7.3.2"


DefaultVerifyPaths = namedtuple(
    "DefaultVerifyPaths", "cafile capath openssl_cafile_env openssl_cafile openssl_capath_env openssl_capath"
)


def get_default_verify_paths():
    return DefaultVerifyPaths(None, None, "SSL_CERT_FILE", "", "SSL_CERT_DIR", "")


def _no_tls(*args, **kwargs):
    raise missing.error("TLS", _WHY, SSLError)


class SSLContext:
    """Remembers its settings."""

    sslsocket_class = sslobject_class = None

    def __init__(self, protocol=_SSLMethod.PROTOCOL_TLS):
        self.protocol = _SSLMethod(protocol)
        client = self.protocol is _SSLMethod.PROTOCOL_TLS_CLIENT
        self.check_hostname = client
        self.verify_mode = VerifyMode.CERT_REQUIRED if client else VerifyMode.CERT_NONE
        self.verify_flags = VerifyFlags.VERIFY_X509_TRUSTED_FIRST
        self.options = Options.OP_ALL | Options.OP_NO_SSLv3
        self.minimum_version, self.maximum_version = TLSVersion.MINIMUM_SUPPORTED, TLSVersion.MAXIMUM_SUPPORTED
        self.hostname_checks_common_name = True
        self.post_handshake_auth = False
        self.sni_callback = self.keylog_filename = None
        self.security_level, self.num_tickets = 2, 2

    def _remember(self, *args, **kwargs):
        pass

    load_default_certs = set_default_verify_paths = set_ciphers = set_alpn_protocols = set_npn_protocols = _remember
    set_ecdh_curve = load_dh_params = set_servername_callback = load_cert_chain = _remember

    def load_verify_locations(self, cafile=None, capath=None, cadata=None):
        if cafile is None and capath is None and cadata is None:
            raise TypeError("cafile, capath and cadata cannot be all omitted")
        for path in (cafile, capath):
            if path is not None:
                os.stat(path)

    def get_ca_certs(self, binary_form=False):
        return []

    def get_ciphers(self):
        return []

    def cert_store_stats(self):
        return {"x509": 0, "crl": 0, "x509_ca": 0}

    def session_stats(self):
        return {}

    def wrap_socket(
        self, sock, server_side=False, do_handshake_on_connect=True, suppress_ragged_eofs=True, server_hostname=None,
        session=None,
    ):  # fmt: skip
        if server_side or not isinstance(sock, socket.socket) or sock._peer is None:
            _no_tls()
        if self.check_hostname and not server_hostname:
            raise ValueError("check_hostname requires server_hostname")
        sock.use_tls(server_hostname, sock.gettimeout() or None)
        sock.__class__ = SSLSocket
        sock.context, sock.server_hostname, sock.session = self, server_hostname, None
        return sock

    def wrap_bio(self, incoming, outgoing, server_side=False, server_hostname=None, session=None):
        if server_side:
            _no_tls()
        made = SSLObject.__new__(SSLObject)
        made.context, made.session = self, session
        made.server_hostname = server_hostname.decode() if isinstance(server_hostname, bytes) else server_hostname
        made._incoming, made._outgoing, made._handshake = incoming, outgoing, None
        return made


class _Session:
    """What there is to say of a session whose particulars stay with the host."""

    server_side = False
    session_reused = None

    def getpeercert(self, binary_form=False):
        return b"" if binary_form else {}

    def version(self):
        return "TLSv1.3"

    def cipher(self):
        return ("TLS_AES_256_GCM_SHA384", "TLSv1.3", 256)

    def selected_alpn_protocol(self):
        return None

    selected_npn_protocol = compression = shared_ciphers = selected_alpn_protocol

    def get_channel_binding(self, cb_type="tls-unique"):
        return None

    def pending(self):
        return 0


class SSLSocket(_Session, socket.socket):
    """A socket on which the host speaks TLS."""

    def __init__(self, *args, **kwargs):
        _no_tls()

    def do_handshake(self, block=False):
        pass

    @property
    def _sslobj(self):
        return self  # httpcore looks here for what a session is like

    def unwrap(self):
        return self

    read = socket.socket.recv
    write = socket.socket.send


class SSLObject(_Session):
    """TLS apart from a socket: what is written goes on as it is, after a handshake with our own transport."""

    def __init__(self, *args, **kwargs):
        _no_tls()

    def do_handshake(self):
        if self._handshake is None:
            self._outgoing.write(handshake.hello(self.server_hostname))
            self._handshake = False
        self._handshake = self._handshake or handshake.read_reply(self._incoming)
        if not self._handshake:
            raise SSLWantReadError(2, "The operation did not complete (read)")

    def read(self, size=1024, buffer=None):
        data = self._incoming.read(size)
        if not data and not self._incoming.eof:
            raise SSLWantReadError(2, "The operation did not complete (read)")
        if buffer is None:
            return data
        buffer[: len(data)] = data
        return len(data)

    def write(self, data):
        return self._outgoing.write(data)

    def pending(self):
        return self._incoming.pending

    def unwrap(self):
        pass


class SSLSession:
    pass


class MemoryBIO:
    def __init__(self):
        self.eof, self._bytes = False, bytearray()

    @property
    def pending(self):
        return len(self._bytes)

    def write(self, data):
        self._bytes += data
        return memoryview(data).nbytes

    def read(self, size=-1):
        size = len(self._bytes) if size < 0 else size
        data = bytes(self._bytes[:size])
        del self._bytes[:size]
        return data

    def write_eof(self):
        self.eof = True


SSLContext.sslsocket_class, SSLContext.sslobject_class = SSLSocket, SSLObject
wrap_socket = get_server_certificate = _no_tls


def create_default_context(purpose=Purpose.SERVER_AUTH, *, cafile=None, capath=None, cadata=None):
    if not isinstance(purpose, _Object):
        raise TypeError(purpose)
    server = purpose is Purpose.CLIENT_AUTH
    context = SSLContext(_SSLMethod.PROTOCOL_TLS_SERVER if server else _SSLMethod.PROTOCOL_TLS_CLIENT)
    if cafile or capath or cadata:
        context.load_verify_locations(cafile, capath, cadata)
    return context


def _create_unverified_context(protocol=None, *, cert_reqs=CERT_NONE, check_hostname=False, **more):  # noqa: F821
    context = SSLContext(_SSLMethod.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = check_hostname, cert_reqs
    return context


_create_default_https_context = create_default_context
_create_stdlib_context = _create_unverified_context


def RAND_bytes(size, /):
    return os.urandom(size)


def RAND_status():
    return True


def RAND_add(data, entropy, /):
    pass


_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
PEM_HEADER, PEM_FOOTER = _BEGIN, _END


def DER_cert_to_PEM_cert(der):
    lines = re.findall(".{1,64}", base64.b64encode(der).decode())
    return "\n".join([_BEGIN, *lines, _END, ""])


def PEM_cert_to_DER_cert(pem):
    text = pem.strip()
    if not text.startswith(_BEGIN) or not text.endswith(_END):
        raise ValueError(f"Invalid PEM encoding; must start with {_BEGIN} and end with {_END}")
    return base64.b64decode(text[len(_BEGIN) : -len(_END)])


def cert_time_to_seconds(text):
    import calendar
    import time

    return calendar.timegm(time.strptime(text, "%b %d %H:%M:%S %Y GMT"))


def get_protocol_name(code):
    return _SSLMethod(code).name if code in _SSLMethod else "<unknown>"
