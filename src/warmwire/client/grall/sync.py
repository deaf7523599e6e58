"""The grall client.

with GrallClient(path) as client, client.generate("Once upon ", limit=200) as stream:
    for text in stream:
        print(text, end="")

Several streams may run on one client, also in several threads: the connection is read by a thread of its own.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Self, TypeVar

from warmwire.client.grall.link import MAX_BACKLOG, GrallLink, Inbox, new_command
from warmwire.errors import StreamLostError
from warmwire.system.closing import Closing
from warmwire.transport.dial import DIAL_WAIT

T = TypeVar("T")


class GrallClient(Closing):
    """A connection to a grall server, opened when it is first needed, and again after it was lost.

    `wait` is how many seconds to wait for a server that is not listening yet. Of a stream that nobody reads at most
    about `max_backlog` bytes are kept; then its generation is held by means of its delay. None keeps everything,
    which suits a server that lets a delay stop the whole connection.
    """

    def __init__(
        self, addr: str | os.PathLike[str], *, wait: float = DIAL_WAIT, max_backlog: int | None = MAX_BACKLOG
    ) -> None:
        self._addr = addr
        self._wait = wait
        self._max_backlog = max_backlog
        self._link: GrallLink | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.RLock()

    def connect(self) -> None:
        """Connect now. Raises DialError, ProtocolError."""
        self._open()

    def generate(self, seed: str | bytes = "", *, limit: int = 0, delay: int = 0) -> GrallStream:
        """Start a generation that goes on from `seed`.

        `limit` is the most bytes (0: no limit), `delay` the milliseconds between tokens of four bytes. Raises
        UsageError, DialError, ProtocolError.
        """
        return GrallStream(self, seed, limit, delay)

    def ping(self) -> float:
        """Seconds until the server answered. Raises StreamLostError, DialError."""
        return self._run(self._open().ping())

    def close(self) -> None:
        """Stop every generation and close the connection. May be called twice."""
        with self._lock:
            link, self._link = self._link, None
            loop, self._loop = self._loop, None
            thread, self._thread = self._thread, None
        if loop is None or thread is None:
            return

        async def stop() -> None:
            if link is not None:
                link.close()
            # Calls of other threads end with the link; their threads hear of it while the loop still runs.
            others = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _open(self) -> GrallLink:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="grall client", daemon=True)
                self._thread.start()
            if self._link is None or self._link.closed:
                self._link = self._run(GrallLink.open(self._addr, self._wait, self._max_backlog))
            return self._link

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Await in the connection's thread. Raises StreamLostError where another thread has closed the client."""
        with self._lock:  # what is begun before `close` takes the loop away is ended by it
            if self._loop is None:
                coroutine.close()
                raise StreamLostError(f"the connection to {os.fspath(self._addr)} was closed by this side")
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        return future.result()

    def _call(self, function: Callable[..., object], *args: object) -> None:
        """Have the connection's thread call something, where it still lives."""
        loop = self._loop
        with contextlib.suppress(RuntimeError):  # closed meanwhile
            if loop is not None:
                loop.call_soon_threadsafe(function, *args)


class GrallStream:
    """A generation under way; iterate it for text, or `raw()` for bytes. Leaving its block cancels it."""

    def __init__(self, client: GrallClient, seed: str | bytes, limit: int, delay: int) -> None:
        self._client = client
        self._news = threading.Event()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._finished = False
        new_command(b"", seed, limit, delay)
        self._link = client._open()
        self._inbox = Inbox(new_command(self._link.fresh_name(), seed, limit, delay), self._news.set)
        client._run(self._begin())

    async def _begin(self) -> None:
        self._link.start(self._inbox)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.cancel()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        while not self._finished:
            data = self._take()
            self._finished = data is None
            if text := self._decoder.decode(data or b"", final=self._finished):
                return text
        raise StopIteration

    @property
    def backlog(self) -> int:
        """Bytes that have come and have not been taken."""
        return self._inbox.backlog

    def raw(self) -> Iterator[bytes]:
        """The text as it arrives, not decoded."""
        while (data := self._take()) is not None:
            yield data

    def text(self) -> str:
        """Read to the end; all text."""
        return "".join(self)

    def cancel(self) -> None:
        """Stop the generation; iteration ends. May be called at any time, from any thread."""
        self._finished = True
        self._inbox.drop()
        self._inbox.end()
        self._client._call(self._link.cancel, self._inbox)

    def set_delay(self, delay: int) -> None:
        """Change the milliseconds between tokens. Raises UsageError."""
        new_command(b"", b"", 0, delay)
        self._client._call(self._link.set_delay, self._inbox, delay)

    def _take(self) -> bytes | None:
        while True:
            self._news.clear()
            data = self._inbox.take()
            if data == b"":
                self._news.wait()
                continue
            if self._inbox.held:
                self._client._call(self._link.release, self._inbox)
            return data
