"""What every host does, whatever wire it speaks: whom it takes in, what it counts, how it drains and closes.

`serving` and the daemon know hosts by this class only, so each of them has an admin socket, says how far it has come,
and ends in the same way: stop accepting, unlink, tell newcomers on live connections, let the rest run to a deadline,
cut what remains.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

import msgspec

from warmwire.host.accept import accept_until
from warmwire.host.activity_log import record
from warmwire.host.hangup import HangupWatch
from warmwire.models.interface import Capabilities
from warmwire.transport.paths import Surface
from warmwire.transport.peer import Peer, own_uids, peer_credentials

log = logging.getLogger("warmwire.host")

SHUTTING_DOWN: Final = "the host is shutting down"

_LAST_WORDS: Final = 1.0
"""Seconds that clients get to take what was sent before the host closed."""


class Activity(msgspec.Struct):
    """What a host is doing: requests running or waiting, of how many at most; and counts since it started.

    Up to `workers` of the outstanding requests run, the others wait.
    """

    workers: int
    capacity: int
    outstanding: int = 0
    answered: int = 0
    refused: int = 0
    sent: int = 0
    """Messages sent: about one for each delta."""


class Guest(Protocol):
    """A connection, as its host sees it."""

    surface: str
    """What is spoken here, for the log."""
    closed: asyncio.Future[None]

    def sock(self) -> socket.socket:
        """What is connected."""

    def abort(self, message: str) -> None:
        """End what is under way, saying so where the wire has a word for it, then close; what is idle stays."""

    def close(self) -> None:
        """Cancel what is under way and close once the client has taken what was sent."""

    def drop(self) -> None:
        """End at once, whatever the client has not taken."""


G = TypeVar("G", bound=Guest)


class BaseHost(Generic[G]):
    """Serves connections of one kind. Lives in one event loop."""

    speaks: ClassVar[str]
    """What is spoken at the host's own path."""

    def __init__(self, activity: Activity) -> None:
        self.activity = activity
        self.on_activity: Callable[[], None] = lambda: None
        self.draining = False
        self.hangups: Final = HangupWatch()
        self.uids: set[int] | None = own_uids()
        """Whose connections are taken; None: of whomever the file system lets connect."""
        self.credentials: Callable[[socket.socket], Peer] = peer_credentials
        """Who is at the other end."""
        self._connections: set[G] = set()
        self._ending = 0
        self._idle = asyncio.Event()
        self._idle.set()

    # ------------------------------------------------------------------ what differs from wire to wire

    @property
    def name(self) -> str:
        """What the host serves, for people."""
        raise NotImplementedError

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; known once `start` has returned."""
        raise NotImplementedError

    def beside(self) -> Mapping[Surface, bool]:
        """The sockets that there may be beside its own path, and whether it is able to serve them."""
        return {}

    async def start(self) -> None:
        """Load. Raises WarmwireError."""

    async def adopt(self, sock: socket.socket, surface: Surface = Surface.GENERATION) -> G:
        """Serve a connected socket. `GENERATION` is the host's own path, whatever it speaks."""
        raise NotImplementedError

    # ------------------------------------------------------------------ what connections call

    def accept(self, connection: G) -> bool:
        """Take in a new connection; False for another user's."""
        uid, _, pid = self.credentials(connection.sock())
        if self.uids is not None and uid not in self.uids:
            who = "somebody whom the system does not name" if uid is None else f"uid {uid} (pid {pid})"
            log.warning("refused a connection of %s", who)
            return False
        record("connection_accepted", surface=connection.surface, peer_uid=uid, peer_pid=pid)
        self._connections.add(connection)
        return True

    def forget(self, connection: G) -> None:
        """A connection has ended."""
        self._connections.discard(connection)

    def begin(self, *, ends: bool = True) -> None:
        """One more request is outstanding. A drain waits for it if it `ends` by itself."""
        self.activity.outstanding += 1
        if ends:
            self._ending += 1
            self._idle.clear()
        self.on_activity()

    def end(self, *, ends: bool = True) -> None:
        """It is no more; `ends` is as it was for `begin`."""
        self.activity.outstanding -= 1
        if ends:
            self._ending -= 1
            if not self._ending:
                self._idle.set()
        self.on_activity()

    # ------------------------------------------------------------------ what owners call

    @property
    def connections(self) -> frozenset[G]:
        """Those that there are now."""
        return frozenset(self._connections)

    async def serve(self, listening: Mapping[Surface, socket.socket], stop: asyncio.Event) -> None:
        """Accept connections until `stop` is set; the sockets are closed then, connections live on."""
        await accept_until(stop, {sock: partial(self.adopt, surface=surface) for surface, sock in listening.items()})

    async def drain(self, timeout: float) -> bool:
        """Let outstanding requests end; returns whether all did within `timeout` seconds."""
        self.draining = True
        try:
            await asyncio.wait_for(self._idle.wait(), timeout)
        except TimeoutError:
            for connection in tuple(self._connections):
                connection.abort(SHUTTING_DOWN)
            return False
        return True

    async def close(self) -> None:
        """Drop every connection. An answer under way ends with an error, where the wire has one."""
        ending: list[asyncio.Future[Any]] = [connection.closed for connection in self._connections]
        for connection in tuple(self._connections):
            connection.abort(SHUTTING_DOWN)
            connection.close()
        if ending:
            _, waiting = await asyncio.wait(ending, timeout=_LAST_WORDS)
            if waiting:  # clients that do not take what was sent
                for connection in tuple(self._connections):
                    connection.drop()
                await asyncio.wait(waiting, timeout=_LAST_WORDS)
        self.hangups.close()
