"""The library's server: a handler behind a socket in a few lines.

    with listen() as listener:
        listener.serve_forever(handler)

`serve` does the same for one connection that is already there.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager

from warmwire.errors import ListenError, UsageError
from warmwire.host.admin import Admin
from warmwire.host.defaults import DRAIN_TIMEOUT, QUEUE_DEPTH, WRITE_TIMEOUT
from warmwire.host.generation.runner import ThreadRunner
from warmwire.host.generation.server import Host
from warmwire.models.interface import Handler, PageModel
from warmwire.system.closing import Closing
from warmwire.transport.conn import Conn
from warmwire.transport.listen import SocketPath
from warmwire.transport.paths import Surface, surface_addr
from warmwire.transport.peer import own_uids
from warmwire.wire.admin import HostEvent

log = logging.getLogger("warmwire.host")


def listen(addr: str | os.PathLike[str] | None = None) -> Listener:
    """Bind `addr`, or the default address. Bind late: a socket that exists says that the model is ready.

    Raises ListenError when the path is served already or cannot be used, UsageError when no socket can have it.
    """
    return Listener(addr)


def serve(conn: Conn, handler: Handler) -> None:
    """Serve requests on one connection until its peer closes it. Closes `conn`."""

    async def main() -> None:
        host = Host(ThreadRunner(PageModel(handler)))
        session = await host.adopt(conn.sock, reader=conn.requests)
        await session.closed
        await host.close()

    asyncio.run(main())


class Listener(Closing):
    """A bound socket. Connections are accepted by the kernel at once and served by `serve_forever`."""

    def __init__(self, addr: str | os.PathLike[str] | None = None) -> None:
        self._path = SocketPath(addr)
        self._path.claim()
        try:
            self._sock = self._path.bind()
        except BaseException:
            self._path.release()
            raise
        self._lock = threading.RLock()  # a signal handler may close in the middle of `serve_forever`
        self._stop: Callable[[], object] | None = None
        self._serving: int | None = None
        self._ended = threading.Event()
        self._closed = False

    @property
    def addr(self) -> str:
        """The socket's path."""
        return self._path.path

    def serve_forever(
        self,
        handler: Handler,
        *,
        workers: int = 1,
        queue_depth: int = QUEUE_DEPTH,
        write_timeout: float = WRITE_TIMEOUT,
        drain_timeout: float = DRAIN_TIMEOUT,
        request_timeout: float | None = None,
    ) -> None:
        """Serve until `close` is called, by another thread or by a signal handler of this one.

        Requests under way then get `drain_timeout` seconds.

        At most `workers` requests run at once, each on a thread; `queue_depth` more may wait. A page that takes longer
        than `request_timeout` seconds (None: 120; 0: any number) is answered with an error and its handler told to
        stop; its thread is free again when it has.
        """

        async def main() -> None:
            stop = asyncio.Event()
            loop = asyncio.get_running_loop()
            with self._lock:
                if self._closed:
                    return
                self._stop = lambda: loop.call_soon_threadsafe(stop.set)
            host = Host(
                ThreadRunner(PageModel(handler), workers),
                queue_depth=queue_depth,
                write_timeout=write_timeout,
                request_timeout=request_timeout,
            )
            try:
                async with self._telling(host) as admin:
                    await host.serve({Surface.GENERATION: self._sock}, stop)
                    self._path.unlink()
                    admin.publish(HostEvent.DRAINING)
                    await host.drain(drain_timeout)
            finally:
                with self._lock:
                    self._stop = None
                await host.close()

        self._ended.clear()
        self._serving = threading.get_ident()
        try:
            asyncio.run(main())
        finally:
            if self._closed:
                self._give_back()
            self._serving = None
            self._ended.set()

    def close(self) -> None:
        """Stop serving, wait for the drain, unlink the socket. May be called twice, from any thread.

        Called by the thread that serves, from a signal handler, it does not wait: `serve_forever` does the rest.
        """
        with self._lock:
            self._closed = True
            if self._stop is not None:
                self._stop()
        if self._serving == threading.get_ident():
            return
        if self._serving is not None:
            self._ended.wait()
        self._give_back()

    @asynccontextmanager
    async def _telling(self, host: Host) -> AsyncIterator[Admin]:
        """The admin socket beside ours, for `warmwire status` and its like. Without it, where it cannot be had."""
        admin = Admin(own_uids(), host.hangups)
        admin.present(host)
        admin.publish(HostEvent.READY)
        with ExitStack() as stack:
            try:
                path = stack.enter_context(SocketPath(surface_addr(self.addr, Surface.ADMIN)))
                telling = asyncio.create_task(admin.serve(path.bind()))
            except (ListenError, UsageError) as error:
                log.warning("no admin socket: %s", error)
                yield admin
                return
            try:
                yield admin
            finally:
                telling.cancel()
                admin.close()

    def _give_back(self) -> None:
        with self._lock:
            self._sock.close()
            self._path.release()
