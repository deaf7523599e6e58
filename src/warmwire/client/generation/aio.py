"""The client of the generation wire for asyncio; the twin of `sync`, with the same names and the same behaviour.

async with AsyncClient() as client, await client.ask("Say hello.") as stream:
    async for text in stream:
        print(text, end="")
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self, Unpack, cast

from warmwire.client.generation.shared import BUSY, AskOptions, Deadline, Reply, ask_request, ended_silently, unsent
from warmwire.client.generation.tasks import (
    STATE_TIMEOUT,
    read_events_async,
    read_status_async,
    run_task_async,
    wait_ready_async,
)
from warmwire.errors import UsageError
from warmwire.system.closing import AsyncClosing
from warmwire.transport.dial import DIAL_WAIT, connect_async
from warmwire.wire.admin import HostStatus
from warmwire.wire.generation.frames import FrameReader
from warmwire.wire.generation.messages import OutBlock, Request
from warmwire.wire.generation.request import encode_request
from warmwire.wire.tasks import EmbedRequest, EmbedResponse, RerankRequest, RerankResponse


class AsyncClient(AsyncClosing):
    """A connection to a host, opened when it is first needed; see `Client`."""

    def __init__(
        self,
        addr: str | os.PathLike[str] | None = None,
        *,
        wait: float = DIAL_WAIT,
        timeout: float | None = None,
    ) -> None:
        Deadline(timeout)
        self._addr = addr
        self._wait = wait
        self._timeout = timeout
        self._conn: AsyncConn | None = None
        self._stream: AsyncStream | None = None
        self._sending = False

    async def connect(self) -> None:
        """Connect now. Raises DialError."""
        if self._conn is None or self._conn.closed:
            self._conn = AsyncConn(await connect_async(self._addr, wait=self._wait))

    async def ask(self, prompt: str, **options: Unpack[AskOptions]) -> AsyncStream:
        """Send one prompt, with images, sound, tools and limits as `AskOptions` says; see `generate`."""
        return await self.generate(ask_request(prompt, options), timeout=options.get("timeout"))

    async def generate(self, request: Request, *, timeout: float | None = None) -> AsyncStream:
        """Send a request; its answer is the stream. Raises as `Client.generate`."""
        deadline = Deadline(self._timeout if timeout is None else timeout)
        if self._sending or (self._stream is not None and not self._stream.ended):
            raise UsageError(BUSY)
        self._sending = True
        try:
            self._stream = AsyncStream(await self._send(request, deadline), deadline)
            return self._stream
        finally:
            self._sending = False

    async def _send(self, request: Request, deadline: Deadline) -> AsyncConn:
        """Send a request; returns the connection that its answer comes on."""
        if self._conn is not None and ended_silently(self._conn.sock):
            self.close()  # its host has drained, say
        fresh = self._conn is None
        await self.connect()
        conn = self._conn
        assert conn is not None
        try:
            async with asyncio.timeout(deadline.left()):
                await conn.write_request(request)
        except OSError as error:
            if (lost := unsent(error, deadline, conn.closed)) is not None:
                conn.close()
                raise lost from error
            if not fresh and ended_silently(conn.sock):
                conn.close()
                return await self._send(request, deadline)
        except BaseException:
            conn.close()
            raise
        return conn

    async def embed(
        self, texts: Sequence[str], *, dimensions: int | None = None, task: str | None = None
    ) -> EmbedResponse:
        """One vector for each text; `dimensions` cuts them, `task` is one of `EMBED_TASKS`.

        Raises DialError when the host's model does not embed, InvalidRequestError for what it cannot.
        """
        request = EmbedRequest(list(texts), dimensions=dimensions, task=task)
        return cast(EmbedResponse, await run_task_async(self._addr, request, self._wait, Deadline(self._timeout)))

    async def rerank(self, query: str, documents: Sequence[str], *, top_n: int | None = None) -> RerankResponse:
        """Documents ranked by how well they answer `query`, best first. Raises as `embed`."""
        request = RerankRequest(query, list(documents), top_n=top_n)
        return cast(RerankResponse, await run_task_async(self._addr, request, self._wait, Deadline(self._timeout)))

    def events(self) -> AsyncIterator[dict[str, Any]]:
        """What the host tells on its admin socket: capabilities, the state, then events. Raises DialError."""
        return read_events_async(self._addr, self._wait)

    async def status(self, timeout: float = STATE_TIMEOUT) -> HostStatus:
        """How the host is now, also while it loads its model. Raises DialError, or BackendUnavailableError for a host
        that tells nothing in `timeout` seconds: it hangs."""
        return await read_status_async(self._addr, self._wait, timeout)

    async def wait_ready(self, timeout: float = 30.0) -> None:
        """Return when the model is loaded. Raises DialError, or BackendUnavailableError after `timeout` seconds."""
        await wait_ready_async(self._addr, timeout)

    def close(self) -> None:
        """Close the connection; an answer under way is cancelled. May be called twice, from any task."""
        conn, self._conn = self._conn, None
        if self._stream is not None and not self._stream.ended:
            self._stream.cancel()
        if conn is not None:
            conn.close()


class AsyncStream:
    """An answer under way; see `Stream`."""

    def __init__(self, conn: AsyncConn, deadline: Deadline) -> None:
        self._conn = conn
        self._reply = Reply(conn.frames, deadline)
        self.answer = self._reply.answer
        self.ended = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *reason: object) -> None:
        self.cancel()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        while (block := await self._next_block()) is not None:
            if block.type == "text":
                return block.delta
        raise StopAsyncIteration

    async def blocks(self) -> AsyncIterator[OutBlock]:
        """Every block; raises as `Stream.blocks`."""
        while (block := await self._next_block()) is not None:
            yield block

    async def text(self) -> str:
        """Read to the end; all text."""
        while await self._next_block() is not None:
            pass
        return self.answer.text

    async def _next_block(self) -> OutBlock | None:
        """The next block; None when the answer has ended."""
        reply, conn = self._reply, self._conn
        try:
            if time.monotonic() > conn.turn_ends:
                await conn.give_way()
            while (block := reply.next_block()) is None and not reply.answer.finished:
                await conn.receive(reply.deadline.left())
        except BaseException as error:
            self.ended = True
            conn.close()  # also after an error frame: hosts differ in whether they go on from it
            if (failure := reply.failure(error)) is error:
                raise
            raise failure from error
        if block is None:
            self.ended = True
        return block

    def cancel(self) -> None:
        """Give the answer up: the connection is closed, which tells the host. May be called from any task.

        Does nothing once it has ended: the connection may carry the next answer by then.
        """
        if self.ended:
            return
        self._reply.cancelled = True
        self.ended = True
        self._conn.close()


_TURN: Final = 0.0005
"""Seconds for which a task may read what is there already before it lets the others of its loop run: where messages
come faster than they are read, nothing else would ever make it wait. A short request takes several rounds of a loop, so
it waits several turns of each reader: beside four, 99 of 100 requests to the bridge took up to 42 ms on two cores at
load 12, and 85 ms with turns twice as long."""


class AsyncConn:
    """Frames over a non-blocking socket.

    A socket must not be closed while the event loop waits for it, or the waiting task would never be woken: `close`
    shuts it down, and whoever waits for it closes it on the way out.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.frames = FrameReader()
        self.closed = False
        self.turn_ends = time.monotonic() + _TURN
        self._in_use = False

    async def write_request(self, request: Request) -> None:
        loop = asyncio.get_running_loop()
        with self._using():
            for piece in encode_request(request):
                await loop.sock_sendall(self.sock, piece)

    async def give_way(self) -> None:
        """Let other tasks run."""
        await asyncio.sleep(0)
        self.turn_ends = time.monotonic() + _TURN

    async def receive(self, timeout: float | None) -> None:
        """Receive once into `frames`. Raises EOFError, ProtocolError, OSError, TimeoutError."""
        with self._using():
            buffer = self.frames.get_buffer()
            try:
                count = self.sock.recv_into(buffer)
            except BlockingIOError:
                async with asyncio.timeout(timeout):
                    count = await asyncio.get_running_loop().sock_recv_into(self.sock, buffer)
                self.turn_ends = time.monotonic() + _TURN
        if not count:
            self.frames.receive_eof()
            raise EOFError("the host closed the connection")
        self.frames.buffer_updated(count)

    def close(self) -> None:
        self.closed = True
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        if not self._in_use:
            self.sock.close()

    @contextmanager
    def _using(self) -> Iterator[None]:
        self._in_use = True
        try:
            yield
        finally:
            self._in_use = False
            if self.closed:
                self.sock.close()
