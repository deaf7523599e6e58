"""Embeddings, rerank and admin: one line out, one line back, or lines for as long as one listens.

Each call has a connection of its own, which costs a few tens of microseconds and makes leaving early the same as
cancelling.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any, Final

from warmwire.client.generation.shared import Deadline
from warmwire.errors import (
    BackendUnavailableError,
    DialError,
    EmbedUnsupportedError,
    ProtocolError,
    RerankUnsupportedError,
    StreamLostError,
    error_for,
)
from warmwire.transport.dial import START, connect, connect_async
from warmwire.transport.paths import Surface, surface_addr
from warmwire.wire.admin import HostEvent, HostStatus, decode_status
from warmwire.wire.lines import LineReader
from warmwire.wire.tasks import EmbedRequest, TaskError, TaskRequest, TaskResponse, decode_task_response, encode_line

Addr = str | os.PathLike[str] | None

STATE_TIMEOUT: Final = 5.0
"""Seconds in which a host that lives tells its state."""

_ACTIVITY_WAIT = 0.2
"""Seconds to wait for a host's activity after its state; hosts of other makes have none to tell."""


def run_task(addr: Addr, request: TaskRequest, wait: float, deadline: Deadline) -> TaskResponse:
    """Send one request to the surface of its kind.

    Raises DialError, StreamLostError, TimedOutError, and the host's own errors.
    """
    surface = _surface(request)
    try:
        sock = _connect(addr, surface, 0)
    except DialError:
        with contextlib.suppress(DialError, StreamLostError, BackendUnavailableError):
            _refuse_unable(read_status(addr, 0), request)
        sock = _connect(addr, surface, wait)
    with sock:
        try:
            sock.settimeout(deadline.left())
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a refusal is there to be read
                sock.sendall(encode_line(request))
            return _response(next(_lines(sock, deadline), None))
        except TimeoutError:
            raise deadline.error() from None


async def run_task_async(addr: Addr, request: TaskRequest, wait: float, deadline: Deadline) -> TaskResponse:
    """`run_task` for an event loop."""
    surface = _surface(request)
    try:
        sock = await _connect_async(addr, surface, 0)
    except DialError:
        with contextlib.suppress(DialError, StreamLostError, BackendUnavailableError):
            _refuse_unable(await read_status_async(addr, 0), request)
        sock = await _connect_async(addr, surface, wait)
    with sock:
        try:
            async with asyncio.timeout(deadline.left()):
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    await asyncio.get_running_loop().sock_sendall(sock, encode_line(request))
                return _response(await anext(_lines_async(sock), None))
        except TimeoutError:
            raise deadline.error() from None


def read_events(addr: Addr, wait: float) -> Iterator[dict[str, Any]]:
    """What the admin socket tells: capabilities, the state, then events until the host ends. Raises DialError."""
    with _connect(addr, Surface.ADMIN, wait) as sock:
        for line in _lines(sock):
            yield decode_status(line)


async def read_events_async(addr: Addr, wait: float) -> AsyncGenerator[dict[str, Any], None]:
    """`read_events` for an event loop."""
    with await _connect_async(addr, Surface.ADMIN, wait) as sock:
        async for line in _lines_async(sock):
            yield decode_status(line)


def read_status(addr: Addr, wait: float, timeout: float = STATE_TIMEOUT) -> HostStatus:
    """How the host is now. Raises DialError, StreamLostError, BackendUnavailableError for a host that hangs."""
    with _connect(addr, Surface.ADMIN, wait) as sock:
        sock.settimeout(timeout)
        lines = _lines(sock)
        status = HostStatus()
        while not status.state:
            try:
                _note(status, next(lines, None))
            except TimeoutError:
                raise _hangs(timeout) from None
        sock.settimeout(_ACTIVITY_WAIT)
        with contextlib.suppress(TimeoutError, StreamLostError):
            _note(status, next(lines, None))
        return status


async def read_status_async(addr: Addr, wait: float, timeout: float = STATE_TIMEOUT) -> HostStatus:
    """`read_status` for an event loop."""
    with await _connect_async(addr, Surface.ADMIN, wait) as sock:
        lines = _lines_async(sock)
        status = HostStatus()
        try:
            async with asyncio.timeout(timeout):
                while not status.state:
                    _note(status, await anext(lines, None))
        except TimeoutError:
            raise _hangs(timeout) from None
        with contextlib.suppress(TimeoutError, StreamLostError):
            async with asyncio.timeout(_ACTIVITY_WAIT):
                _note(status, await anext(lines, None))
        return status


def _hangs(timeout: float) -> BackendUnavailableError:
    return BackendUnavailableError(
        f"the host takes connections but told nothing in {timeout:g} s: it hangs; restart it"
    )


async def wait_ready_async(addr: Addr, timeout: float) -> None:
    """`wait_ready` for an event loop."""
    try:
        async with asyncio.timeout(timeout), contextlib.aclosing(read_events_async(addr, timeout)) as events:
            async for event in events:
                if event.get("status") == HostEvent.READY:
                    return
    except TimeoutError:
        raise BackendUnavailableError(f"the host was not ready within {timeout:g} s") from None
    raise BackendUnavailableError("the host ended before it was ready")


def wait_ready(addr: Addr, timeout: float) -> None:
    """Return when the host is ready. Raises BackendUnavailableError after `timeout` seconds or when it ends first."""
    deadline = time.monotonic() + timeout
    with _connect(addr, Surface.ADMIN, timeout) as sock:
        sock.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            for line in _lines(sock):
                if decode_status(line).get("status") == HostEvent.READY:
                    return
                sock.settimeout(max(0.001, deadline - time.monotonic()))
        except TimeoutError:
            raise BackendUnavailableError(f"the host was not ready within {timeout:g} s") from None
    raise BackendUnavailableError("the host ended before it was ready")


def _surface(request: TaskRequest) -> Surface:
    return Surface.EMBEDDINGS if isinstance(request, EmbedRequest) else Surface.RERANK


def _connect(addr: Addr, surface: Surface, wait: float) -> socket.socket:
    return connect(surface_addr(addr, surface), wait=wait, start=_start(addr))


async def _connect_async(addr: Addr, surface: Surface, wait: float) -> socket.socket:
    return await connect_async(surface_addr(addr, surface), wait=wait, start=_start(addr))


def _start(addr: Addr) -> str:
    """The command that would start the host: it names the generation socket, whichever is missed."""
    return START.format(path=surface_addr(addr, Surface.GENERATION)).replace("{", "{{").replace("}", "}}")


def _refuse_unable(status: HostStatus, request: TaskRequest) -> None:
    """Say so where waiting is no use: a host that is ready, of a model that cannot. Raises RequestError."""
    embed = isinstance(request, EmbedRequest)
    if status.state == HostEvent.READY and not any(c.get("embed" if embed else "rerank") for c in status.capabilities):
        names = ", ".join(str(c.get("backend")) for c in status.capabilities)
        if embed:
            raise EmbedUnsupportedError(f"the host's model ({names}) does not embed; serve an embedding model")
        raise RerankUnsupportedError(f"the host's model ({names}) does not rerank; serve a reranker")


def _lines(sock: socket.socket, deadline: Deadline | None = None) -> Iterator[bytes]:
    reader = LineReader()
    while True:
        while (line := reader.next_line()) is not None:
            yield line
        if deadline is not None and (left := deadline.left()) is not None:
            sock.settimeout(left)
        try:
            count = sock.recv_into(reader.get_buffer())
        except ConnectionResetError:
            count = 0
        if not count:
            return
        reader.buffer_updated(count)


async def _lines_async(sock: socket.socket) -> AsyncIterator[bytes]:
    reader, loop = LineReader(), asyncio.get_running_loop()
    while True:
        while (line := reader.next_line()) is not None:
            yield line
        await asyncio.sleep(0)  # receiving what is there already lets nobody else run
        try:
            count = await loop.sock_recv_into(sock, reader.get_buffer())
        except ConnectionResetError:
            count = 0
        if not count:
            return
        reader.buffer_updated(count)


def _response(line: bytes | None) -> TaskResponse:
    if line is None:
        raise StreamLostError("the host closed the connection before the answer ended")
    response = decode_task_response(line)
    if isinstance(response, TaskError):
        raise error_for(response.code, response.message)
    return response


def _note(status: HostStatus, line: bytes | None) -> None:
    if line is None:
        raise StreamLostError("the host ended before it told its state")
    event = decode_status(line)
    if status.take(event) is None:
        raise ProtocolError(f"the admin socket sent a status that is none: {event.get('status')!r}")
