"""Stands for asyncio's event loop, which elsewhere waits on sockets.

Tasks, timers, timeouts, queues, executors (inline, see `executors`) and a nested `asyncio.run` in another "thread" work,
and waiting is real. Connections carry HTTP to the host, see `transport`; there are no servers, pipes, subprocesses or
signal handlers. When nothing is ready, nothing is due and nothing could still happen, the loop raises `Deadlock`
instead of waiting forever.
"""

import asyncio
import asyncio.events
import asyncio.unix_events
from asyncio.base_events import BaseEventLoop

from skillcell_guest.standins import executors, missing, network, threads, transport
from skillcell_guest.standins.locks import Deadlock


class EventLoop(BaseEventLoop):
    def __init__(self, selector=None):
        super().__init__()
        self._selector = _Clock(self)
        #: Transports that expect something from the host, with their connections.
        self.expecting = {}

    def _process_events(self, event_list):
        for ready in event_list:
            self.call_soon(ready.read)

    def until_next_timer(self):
        """Seconds; None if there is no timer."""
        times = [timer.when() for timer in self._scheduled if not timer.cancelled()]
        return max(min(times) - self.time(), 0) if times else None

    def _write_to_self(self):
        pass  # nobody is asleep: there is no other thread

    def run_in_executor(self, executor, func, *args):
        if executor is None and self._default_executor is None:
            self._check_closed()
            self.set_default_executor(executors.ThreadPoolExecutor())
        return super().run_in_executor(executor, func, *args)

    async def shutdown_default_executor(self, timeout=None):
        self._executor_shutdown_called = True
        if self._default_executor is not None:
            self._default_executor.shutdown()

    async def create_connection(
        self, protocol_factory, host=None, port=None, *, ssl=None, server_hostname=None, sock=None, **options
    ):
        tls = ssl or None
        return await transport.create_connection(
            self, protocol_factory, host, port, tls=tls, server_hostname=server_hostname, sock=sock
        )

    async def sock_connect(self, sock, address):
        """As `aiohttp` does, which makes its sockets itself and gives them to `create_connection`."""
        await transport.connect(self, sock, address)

    async def getaddrinfo(self, host, port, *, family=0, type=0, proto=0, flags=0):
        return network.getaddrinfo(host, port, family, type, proto, flags)

    def _make_socket_transport(self, *args, **kwargs):
        raise missing.error("sockets in an event loop", "use an HTTP client")

    _make_ssl_transport = _make_datagram_transport = _make_socket_transport
    add_reader = remove_reader = add_writer = remove_writer = _make_socket_transport
    sock_accept = sock_recv = sock_sendall = _make_socket_transport

    async def create_unix_connection(self, *args, **kwargs):
        raise missing.error("sockets in an event loop", "use an HTTP client")

    create_unix_server = connect_read_pipe = connect_write_pipe = create_unix_connection

    async def _make_subprocess_transport(self, *args, **kwargs):
        raise missing.error("processes", "there are no programs in a cell to start")

    def add_signal_handler(self, *args):
        raise NotImplementedError(missing.text("signals", "nobody could send one"))

    remove_signal_handler = add_signal_handler


class _Clock:
    """Where other loops have a selector: waits for answers that are under way and for the next timer."""

    def __init__(self, loop):
        self._loop = loop

    def select(self, timeout):
        waits = timeout is None or timeout > 0
        if waits and (threads.run_started(until=lambda: self._loop._ready) or self._loop._ready):
            waits, timeout = False, 0
        if self._loop.expecting:
            return transport.wait(self._loop.expecting, timeout)
        if not waits:
            return ()
        threads.leave_background()
        if timeout is None:
            raise Deadlock("a future that nothing will ever complete")
        threads.sleep(timeout)
        return ()

    def close(self):
        pass


class _Policy(asyncio.unix_events._DefaultEventLoopPolicy):
    """Makes a loop when code asks for the current one and there is none, as Python did up to 3.13."""

    _loop_factory = EventLoop

    def get_event_loop(self):
        if self._local._loop is None:
            self.set_event_loop(self.new_event_loop())
        return self._local._loop


def install():
    for module in (asyncio, asyncio.unix_events):
        module.EventLoop = module.SelectorEventLoop = EventLoop
    asyncio.unix_events._DefaultEventLoopPolicy = _Policy
    asyncio.unix_events._UnixDefaultEventLoopPolicy = _Policy
    asyncio.events._set_event_loop_policy(_Policy())
