"""HTTP connections that have to come to the point.

A connection costs memory and a descriptor, and whoever only holds one keeps others out. So a request's head must come
within seconds of the connection, or of the first byte after the request before. There is room for so many connections;
where there is none left, the one that has been silent for longest makes way for a newcomer.

Whoever sends what is no request, or a head without end, is told so. The rest of it is read and thrown away meanwhile:
closing with input unread would reset the connection before the client has seen its answer.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Final, cast

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from warmwire.bridge.errors import plain_error

MAX_CONNECTIONS: Final = 512

HEAD_TIMEOUT: Final = 10.0
"""Seconds for a request's head, which fits a packet or two."""

MAX_HEAD: Final = 64 << 10
"""Bytes of a request's head."""

_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Waiting:
    """The connections of one server that owe it a request's head, in the order in which they began to."""

    def __init__(self, most: int = MAX_CONNECTIONS, timeout: float = HEAD_TIMEOUT) -> None:
        self.most = most
        self.timeout = timeout
        self._timers: dict[HttpConnection, asyncio.TimerHandle] = {}

    def add(self, connection: HttpConnection) -> None:
        """Give a connection its time, if it is not running already."""
        if connection not in self._timers:
            drop = connection.transport.abort
            self._timers[connection] = asyncio.get_running_loop().call_later(self.timeout, drop)

    def remove(self, connection: HttpConnection) -> None:
        """The head is there, or the connection has gone."""
        if (timer := self._timers.pop(connection, None)) is not None:
            timer.cancel()

    def drop_oldest(self) -> bool:
        """Make room; False where every connection is at work."""
        oldest = next(iter(self._timers), None)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.transport.abort()
        return True


class HttpConnection(H11Protocol):
    """One connection of a bridge."""

    def __init__(self, waiting: Waiting, **options: Any) -> None:
        super().__init__(**options)
        self._waiting = waiting
        self._refused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        if len(self.connections) > self._waiting.most and not self._waiting.drop_oldest():
            self.transport.write(_FULL)
            self.transport.close()
            return
        self._waiting.add(self)

    def data_received(self, data: bytes) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self._waiting.add(self)
        if not self._refused:
            super().data_received(data)

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._waiting.remove(self)

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be read on, and wait for the client to leave for as long as for a head."""
        self._refused = True
        self._waiting.add(self)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):  # an answer is under way: it ends here
            self.transport.close()
            return
        status, message = _refusal(sys.exception())
        body = msgspec.json.encode(plain_error(status, "invalid_request", message))
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"}
        head = self.conn.send(h11.Response(status_code=status, headers=list(headers.items())))
        end = self.conn.send(h11.Data(data=body)), self.conn.send(h11.EndOfMessage())
        self.transport.write(b"".join(filter(None, (head, *end))))
        self.transport.write_eof()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing where a client offers HTTP/2 or a WebSocket beside its request, as Java's do: it is answered."""

    def connection_lost(self, exc: Exception | None) -> None:
        self._waiting.remove(self)
        super().connection_lost(exc)


def _refusal(error: BaseException | None) -> tuple[int, str]:
    """Status and sentence for what h11 does not take."""
    status = getattr(error, "error_status_hint", 400)
    if status == 431:
        return status, f"the head of the request has more than {MAX_HEAD >> 10} KiB; send less in its headers and path"
    return status, f"this is no HTTP request that can be read: {error}"
