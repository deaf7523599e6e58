"""The host: one model, one listening socket, many sessions.

Order matters: load first, bind last, because a successful connect is this protocol's readiness signal. Admission is
one bound over everything outstanding (running and queued); the runner takes requests first in, first out. Draining:
stop accepting, unlink, tell newcomers on live connections, let the rest run to a deadline, cut what remains.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from warmwire.errors import BackendUnavailableError, QueueFullError
from warmwire.host.activity_log import record
from warmwire.host.generation.connection import Connection
from warmwire.host.generation.owner import Activity
from warmwire.host.generation.runner import Runner
from warmwire.host.generation.session import Session, TaskSession
from warmwire.host.hangup import HangupWatch
from warmwire.transport.listen import BACKLOG
from warmwire.transport.paths import Surface
from warmwire.transport.peer import own_uids
from warmwire.wire.generation.request import RequestReader

log = logging.getLogger("warmwire.host")

QUEUE_DEPTH: Final = 10
"""Requests that may wait beyond those that run."""

WRITE_TIMEOUT: Final = 60.0
"""Seconds a client may leave its answer unread."""

DRAIN_TIMEOUT: Final = 10.0
"""Seconds that requests under way get when the host is told to stop."""

PAGE_TIMEOUT: Final = 120.0
"""Seconds that a page gets where nobody has said how many. A chat has no such bound."""

READ_TIMEOUT: Final = 60.0
"""Seconds from the first byte of a request to its last."""

MAX_PARTIAL: Final = 1 << 30
"""Bytes of all requests together that have arrived in part: room for eight of the largest."""

_SHUTTING_DOWN: Final = "the host is shutting down"


class Host:
    """Serves one runner to many connections. Lives in one event loop."""

    def __init__(
        self,
        runner: Runner,
        *,
        queue_depth: int = QUEUE_DEPTH,
        write_timeout: float = WRITE_TIMEOUT,
        request_timeout: float | None = None,
        read_timeout: float = READ_TIMEOUT,
        max_partial: int = MAX_PARTIAL,
    ) -> None:
        self.runner = runner
        self.write_timeout = write_timeout
        self.read_timeout = read_timeout
        self.max_partial = max_partial
        self.partial = 0
        """Bytes of requests that have arrived in part."""
        self._request_timeout = request_timeout
        self.draining = False
        self.hangups = HangupWatch()
        self.activity = Activity(runner.workers, runner.workers + queue_depth)
        self.on_activity: Callable[[], None] = lambda: None
        self._sessions: set[Connection[Any]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self.uids: set[int] | None = own_uids()
        """Whose connections are taken; None: of whomever the file system lets connect."""

    # ------------------------------------------------------------------ what sessions call

    def accept(self, session: Connection[Any]) -> bool:
        """Take in a new connection; False for another user's."""
        uid, pid = session.peer()
        if self.uids is not None and uid not in self.uids:
            who = "somebody whom the system does not name" if uid is None else f"uid {uid} (pid {pid})"
            log.warning("refused a connection of %s", who)
            return False
        record("connection_accepted", surface=session.surface, peer_uid=uid, peer_pid=pid)
        self._sessions.add(session)
        return True

    @property
    def request_timeout(self) -> float | None:
        """Seconds that a model gets for a request; None: any number."""
        if self._request_timeout is None:
            return PAGE_TIMEOUT if self.runner.capabilities.pages else None
        return self._request_timeout or None

    def forget(self, session: Connection[Any]) -> None:
        """A connection has ended."""
        self._sessions.discard(session)

    @contextlib.contextmanager
    def admit(self) -> Iterator[None]:
        """Hold a place while a request is outstanding. Raises QueueFullError, BackendUnavailableError."""
        if self.draining:
            raise BackendUnavailableError("admission closed: the host is shutting down")
        activity = self.activity
        if activity.outstanding >= activity.capacity:
            activity.refused += 1
            raise QueueFullError(f"queue full: {activity.outstanding} requests run or wait; try again later")
        activity.outstanding += 1
        self._idle.clear()
        self.on_activity()
        try:
            yield
            activity.answered += 1
        finally:
            activity.outstanding -= 1
            if not activity.outstanding:
                self._idle.set()
            self.on_activity()

    # ------------------------------------------------------------------ what owners call

    async def serve(self, listening: Mapping[Surface, socket.socket], stop: asyncio.Event) -> None:
        """Accept connections until `stop` is set; the sockets are closed then, sessions live on."""
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                await _somebody(listening.values(), stopping)
                for surface, sock in listening.items():  # also at the end: a connect that succeeded is not reset
                    await self._accept(surface, sock)
        finally:
            stopping.cancel()
            await asyncio.gather(stopping, return_exceptions=True)
            for sock in listening.values():
                sock.close()

    async def adopt(
        self, sock: socket.socket, surface: Surface = Surface.GENERATION, reader: RequestReader | None = None
    ) -> Connection[Any]:
        """Serve a connected socket; `reader` may already hold bytes of it."""
        sock.setblocking(False)

        def make() -> Connection[Any]:
            if surface is Surface.GENERATION:
                return Session(self, reader)
            return TaskSession(self, surface)

        _, session = await asyncio.get_running_loop().connect_accepted_socket(make, sock)
        return session

    async def drain(self, timeout: float) -> bool:
        """Let outstanding requests end; returns whether all did within `timeout` seconds."""
        self.draining = True
        try:
            await asyncio.wait_for(self._idle.wait(), timeout)
        except TimeoutError:
            for session in tuple(self._sessions):
                session.abort(_SHUTTING_DOWN)
            return False
        return True

    async def close(self) -> None:
        """Drop every connection and stop the model. An answer under way ends with an error, as every answer ends."""
        ending = [session.closed for session in self._sessions]
        for session in tuple(self._sessions):
            session.abort(_SHUTTING_DOWN)
            session.close()
        if ending:
            _, waiting = await asyncio.wait(ending, timeout=1)
            if waiting:  # clients that do not take what was sent
                for session in tuple(self._sessions):
                    session.drop()
                await asyncio.wait(waiting, timeout=1)
        self.hangups.close()
        await self.runner.close()

    async def _accept(self, surface: Surface, listening: socket.socket) -> None:
        """Take in everybody who waits."""
        try:
            for _ in range(BACKLOG):
                await self.adopt(listening.accept()[0], surface)
        except BlockingIOError:
            pass
        except OSError as error:  # out of descriptors: wait for some connection to end
            log.error("cannot accept a connection: %s", error.strerror)
            await asyncio.sleep(0.1)


async def _somebody(listening: Iterable[socket.socket], stopping: asyncio.Future[Any]) -> None:
    """Wait until somebody connects, or until `stopping` is done."""
    loop = asyncio.get_running_loop()
    connecting = loop.create_future()

    def connected() -> None:
        if not connecting.done():
            connecting.set_result(None)

    for sock in listening:
        loop.add_reader(sock, connected)
    try:
        await asyncio.wait({connecting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for sock in listening:
            loop.remove_reader(sock)
