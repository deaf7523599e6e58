"""The blocking client of the generation wire.

    with Client() as client, client.ask("Say hello.") as stream:
        for text in stream:
            print(text, end="")

One connection carries one answer at a time; several answers at once take several clients. Leaving a stream before its
end closes the connection, which is how this wire cancels; the next request opens a new one, as it does after an error.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Self, Unpack, cast

from warmwire.client.generation.shared import BUSY, AskOptions, Deadline, Reply, ask_request, ended_silently, unsent
from warmwire.client.generation.tasks import STATE_TIMEOUT, read_events, read_status, run_task, wait_ready
from warmwire.errors import UsageError
from warmwire.system.closing import Closing
from warmwire.transport.conn import Conn
from warmwire.transport.dial import DIAL_WAIT, connect
from warmwire.wire.admin import HostStatus
from warmwire.wire.generation.messages import OutBlock, Request
from warmwire.wire.tasks import EmbedRequest, EmbedResponse, RerankRequest, RerankResponse


class Client(Closing):
    """A connection to a host, opened when it is first needed.

    `addr` is a socket path, None the default address; `wait` is how long, in seconds, a host may take to be ready;
    `timeout` is how long an answer may take to be whole, its time in the host's queue included, None for ever.
    """

    def __init__(
        self,
        addr: str | os.PathLike[str] | None = None,
        *,
        wait: float = DIAL_WAIT,
        timeout: float | None = None,
    ) -> None:
        Deadline(timeout)  # raises now what it would raise later
        self._addr = addr
        self._wait = wait
        self._timeout = timeout
        self._conn: Conn | None = None
        self._stream: Stream | None = None
        self._lock = threading.Lock()  # over who may send, and over the end of a stream
        self._sending = False

    def connect(self) -> None:
        """Connect now. Raises DialError."""
        if self._conn is None or self._conn.closed:
            self._conn = Conn(connect(self._addr, wait=self._wait))

    def ask(self, prompt: str, **options: Unpack[AskOptions]) -> Stream:
        """Send one prompt, with images, sound, tools and limits as `AskOptions` says; see `generate`."""
        return self.generate(ask_request(prompt, options), timeout=options.get("timeout"))

    def generate(self, request: Request, *, timeout: float | None = None) -> Stream:
        """Send a request; its answer is the stream. `timeout` counts instead of the client's own.

        Raises DialError when no host answers, InvalidRequestError and FrameTooLargeError for what the wire cannot
        carry, UsageError while another answer is under way, StreamLostError when sending fails, TimedOutError,
        CancelledError when another thread closes the client meanwhile.
        """
        deadline = Deadline(self._timeout if timeout is None else timeout)
        with self._lock:
            if self._sending or (self._stream is not None and not self._stream.ended):
                raise UsageError(BUSY)
            self._sending = True
        try:
            self._stream = Stream(self._send(request, deadline), deadline, self._lock)
            return self._stream
        finally:
            self._sending = False

    def _send(self, request: Request, deadline: Deadline) -> Conn:
        """Send a request; returns the connection that its answer comes on."""
        if self._conn is not None and ended_silently(self._conn.sock):
            self.close()  # its host has drained, say
        fresh = self._conn is None
        self.connect()
        conn = self._conn
        assert conn is not None
        try:
            conn.sock.settimeout(deadline.left())
            conn.write_request(request)
        except OSError as error:
            if (lost := unsent(error, deadline, conn.closed)) is not None:
                conn.close()
                raise lost from error
            if not fresh and ended_silently(conn.sock):
                conn.close()
                return self._send(request, deadline)
        except BaseException:
            conn.close()
            raise
        return conn

    def embed(self, texts: Sequence[str], *, dimensions: int | None = None, task: str | None = None) -> EmbedResponse:
        """One vector for each text; `dimensions` cuts them, `task` is one of `EMBED_TASKS`.

        Raises DialError when the host's model does not embed, InvalidRequestError for what it cannot.
        """
        request = EmbedRequest(list(texts), dimensions=dimensions, task=task)
        return cast(EmbedResponse, run_task(self._addr, request, self._wait, Deadline(self._timeout)))

    def rerank(self, query: str, documents: Sequence[str], *, top_n: int | None = None) -> RerankResponse:
        """Documents ranked by how well they answer `query`, best first. Raises as `embed`."""
        request = RerankRequest(query, list(documents), top_n=top_n)
        return cast(RerankResponse, run_task(self._addr, request, self._wait, Deadline(self._timeout)))

    def events(self) -> Iterator[dict[str, Any]]:
        """What the host tells on its admin socket: capabilities, the state, then events. Raises DialError."""
        return read_events(self._addr, self._wait)

    def status(self, timeout: float = STATE_TIMEOUT) -> HostStatus:
        """How the host is now, also while it loads its model. Raises DialError, or BackendUnavailableError for a host
        that tells nothing in `timeout` seconds: it hangs."""
        return read_status(self._addr, self._wait, timeout)

    def wait_ready(self, timeout: float = 30.0) -> None:
        """Return when the model is loaded. Raises DialError, or BackendUnavailableError after `timeout` seconds."""
        wait_ready(self._addr, timeout)

    def close(self) -> None:
        """Close the connection; an answer under way is cancelled. May be called twice, from any thread."""
        conn, self._conn = self._conn, None  # first: the thread that reads may be quick to open a new one
        if self._stream is not None and not self._stream.ended:
            self._stream.cancel()
        if conn is not None:
            conn.close()


class Stream:
    """An answer under way: iterate for its text deltas, or over `blocks()` for everything.

    `answer` holds what has arrived (text, tool calls) and, at the end, usage, stop reason and backend. Errors carry
    the text so far as `.partial`. `cancel` may be called from any thread.
    """

    def __init__(self, conn: Conn, deadline: Deadline, lock: threading.Lock) -> None:
        self._conn = conn
        self._lock = lock  # the client's; the client itself is not held, since it holds the stream
        self._reply = Reply(conn.frames, deadline)
        self.answer = self._reply.answer
        self.ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.cancel()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        while (block := self._next_block()) is not None:
            if block.type == "text":
                return block.delta
        raise StopIteration

    def blocks(self) -> Iterator[OutBlock]:
        """Every block: text, thinking, tool_use, and kinds that are not known yet.

        Like iterating, it raises the error of an error frame, StreamLostError when the connection ends early,
        ProtocolError for what is no answer, TimedOutError, CancelledError after `cancel`.
        """
        return iter(self._next_block, None)

    def text(self) -> str:
        """Read to the end; all text."""
        for _ in self.blocks():
            pass
        return self.answer.text

    def _next_block(self) -> OutBlock | None:
        """The next block; None when the answer has ended."""
        reply, conn = self._reply, self._conn
        try:
            while (block := reply.next_block()) is None and not reply.answer.finished:
                if (left := reply.deadline.left()) is not None:
                    conn.sock.settimeout(left)
                conn.receive()
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
        """Give the answer up: the connection is closed, which tells the host. Does nothing once it has ended."""
        with self._lock:
            if self.ended:
                return  # the connection may carry the next answer by now
            self._reply.cancelled = True
            self.ended = True
            self._conn.close()
