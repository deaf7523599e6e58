"""The one loop that takes connections in, whatever is spoken on them."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from warmwire.transport.listen import BACKLOG

log = logging.getLogger("warmwire.host")

Adopt = Callable[[socket.socket], Awaitable[object]]
"""Serves a connected socket from now on."""

_PAUSE: Final = 0.1
"""Seconds to wait when no connection can be taken in: some other may end meanwhile."""


async def accept_until(stop: asyncio.Event, listening: Mapping[socket.socket, Adopt]) -> None:
    """Take in whoever connects until `stop` is set, or for ever if it is cancelled first; then close the sockets.

    Who has connected by then is taken in as well: a connect that succeeded is not reset.
    """
    stopping = asyncio.create_task(stop.wait())
    try:
        while not stop.is_set():
            await _somebody(listening, stopping)
            for sock, adopt in listening.items():
                await _take_in(sock, adopt)
    finally:
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)
        for sock in listening:
            sock.close()


async def _take_in(listening: socket.socket, adopt: Adopt) -> None:
    """Everybody who waits at one socket."""
    try:
        for _ in range(BACKLOG):
            sock, _ = listening.accept()
            sock.setblocking(False)
            await adopt(sock)
    except BlockingIOError:
        pass
    except OSError as error:  # out of descriptors
        log.error("cannot accept a connection: %s", error.strerror)
        await asyncio.sleep(_PAUSE)


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
