"""The grall client for asyncio; the twin of `grall`, with the same names and the same behaviour.

async with AsyncGrallClient(path) as client, client.generate("Once upon ", limit=200) as stream:
    async for text in stream:
        print(text, end="")
"""

from __future__ import annotations

import asyncio
import codecs
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Self

from warmwire.client.grall.link import MAX_BACKLOG, GrallLink, Inbox, new_command
from warmwire.system.closing import AsyncClosing
from warmwire.transport.dial import DIAL_WAIT


class AsyncGrallClient(AsyncClosing):
    """A connection to a grall server, opened when it is first needed; see `GrallClient`."""

    def __init__(
        self, addr: str | os.PathLike[str], *, wait: float = DIAL_WAIT, max_backlog: int | None = MAX_BACKLOG
    ) -> None:
        self._addr = addr
        self._wait = wait
        self._max_backlog = max_backlog
        self._link: GrallLink | None = None
        self._opening = asyncio.Lock()

    async def connect(self) -> None:
        """Connect now. Raises DialError, ProtocolError."""
        await self._open()

    def generate(self, seed: str | bytes = "", *, limit: int = 0, delay: int = 0) -> AsyncGrallStream:
        """A generation, which starts when its stream is entered or first read; see `GrallClient.generate`."""
        return AsyncGrallStream(self, seed, limit, delay)

    async def ping(self) -> float:
        """Seconds until the server answered. Raises StreamLostError, DialError."""
        return await (await self._open()).ping()

    def close(self) -> None:
        """Stop every generation and close the connection. May be called twice."""
        link, self._link = self._link, None
        if link is not None:
            link.close()

    async def _open(self) -> GrallLink:
        async with self._opening:
            if self._link is None or self._link.closed:
                self._link = await GrallLink.open(self._addr, self._wait, self._max_backlog)
            return self._link


class AsyncGrallStream:
    """A generation; iterate it for text, or `raw()` for bytes. Leaving its block cancels it."""

    def __init__(self, client: AsyncGrallClient, seed: str | bytes, limit: int, delay: int) -> None:
        self._client = client
        self._command = new_command(b"", seed, limit, delay)
        self._news = asyncio.Event()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._link: GrallLink | None = None
        self._inbox: Inbox | None = None
        self._finished = False
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await self._start()
        return self

    async def __aexit__(self, *reason: object) -> None:
        self.cancel()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        while not self._finished:
            data = await self._take()
            self._finished = data is None
            if text := self._decoder.decode(data or b"", final=self._finished):
                return text
        raise StopAsyncIteration

    async def raw(self) -> AsyncIterator[bytes]:
        """The text as it arrives, not decoded."""
        while (data := await self._take()) is not None:
            yield data

    async def text(self) -> str:
        """Read to the end; all text."""
        return "".join([piece async for piece in self])

    def cancel(self) -> None:
        """Stop the generation; iteration ends. May be called at any time; one that has not begun never will."""
        self._finished = True
        if self._link is not None and self._inbox is not None:
            self._link.cancel(self._inbox)

    async def set_delay(self, delay: int) -> None:
        """Change the milliseconds between tokens. Raises UsageError."""
        new_command(b"", b"", 0, delay)
        if not self._finished:
            link, inbox = await self._start()
            link.set_delay(inbox, delay)

    async def _start(self) -> tuple[GrallLink, Inbox]:
        async with self._starting:
            if self._link is None or self._inbox is None:
                link = await self._client._open()
                command = replace(self._command, name=link.fresh_name())
                self._link, self._inbox = link, Inbox(command, self._news.set)
                if self._finished:  # cancelled while the connection opened
                    self._inbox.end()
                else:
                    link.start(self._inbox)
        return self._link, self._inbox

    async def _take(self) -> bytes | None:
        if self._finished:
            return None
        link, inbox = await self._start()
        while True:
            self._news.clear()
            data = inbox.take()
            if data == b"":
                await self._news.wait()
                continue
            link.release(inbox)
            return data
