"""One request over HTTP: its body, its client, its answer.

An answer is one JSON body or a stream of events, and always ends in exactly one way: whole, with an error, or with its
client gone. An error after the first event is an event too, and no [DONE] follows it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Send

from warmwire.bridge.errors import BodyTimeoutError, error_body, headers_of, status_of
from warmwire.errors import FrameTooLargeError, WarmwireError


@dataclass(frozen=True)
class Bounds:
    """What a client may ask of a bridge's patience, in seconds, and of its memory, in bytes."""

    body: int = 64 << 20
    """Most bytes of one request's body, where its endpoint says nothing else."""

    body_pause: float = 20.0
    """For how long a body may stand still."""

    body_timeout: float = 300.0
    """In which time a body must be whole: enough for 64 MiB from another machine."""

    write_timeout: float = 60.0
    """For how long a client may leave its answer unread, as at a host."""


_encode: Final = msgspec.json.Encoder().encode
_EVENT_HEADERS: Final = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # proxies are asked to pass events on as they come
}
_LINE_ENDS: Final = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))
"""Characters that are no line ends in an event stream, but are taken for ones by clients that split decoded text."""


class Output:
    """The answer to one request."""

    def __init__(self, send: Send, bounds: Bounds) -> None:
        self._send, self._bounds = send, bounds
        self._begun = self._ended = False

    async def json(self, value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer."""
        await self.body(_encode(value), "application/json", status, headers)

    async def body(
        self, data: bytes, media_type: str, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """A whole answer of any kind."""
        head = {"Content-Type": media_type, "Content-Length": str(len(data)), **(headers or {})}
        await self._begin(status, head)
        await self._write(data, more=False)

    async def event(self, value: Any) -> None:
        """One event of a stream; the first one begins it."""
        data = _encode(value)
        if not data.isascii():
            for raw, escaped in _LINE_ENDS:
                data = data.replace(raw, escaped)
        await self._event(data)

    async def comment(self, text: str) -> None:
        """A line of a stream that clients pass over: something is still going on. It begins the stream as well."""
        if not self._begun:
            await self._begin(200, _EVENT_HEADERS)
        await self._write(b": " + " ".join(text.split()).encode() + b"\n\n", more=True)

    async def done(self) -> None:
        """The end of a stream that is complete."""
        await self._event(b"[DONE]")
        await self._write(b"", more=False)

    async def error(self, error: WarmwireError) -> None:
        """The end of an answer that failed, whatever has been sent of it. What a client has not seen goes along."""
        if self._ended:
            return
        body = error_body(error)
        if self._begun:
            await self.event(body)
            await self._write(b"", more=False)
            return
        if error.partial:
            body["error"]["partial"] = error.partial
        await self.json(body, status_of(error), headers_of(error))

    async def _event(self, data: bytes) -> None:
        if not self._begun:
            await self._begin(200, _EVENT_HEADERS)
        await self._write(b"data: " + data + b"\n\n", more=True)

    async def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self._begun = True
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await self._put({"type": "http.response.start", "status": status, "headers": raw})

    async def _write(self, data: bytes, *, more: bool) -> None:
        self._ended = not more
        await self._put({"type": "http.response.body", "body": data, "more_body": more})

    async def _put(self, message: dict[str, Any]) -> None:
        """Raises ClientDisconnect for a client that does not read."""
        try:
            async with asyncio.timeout(self._bounds.write_timeout):
                await self._send(message)
        except TimeoutError:
            raise ClientDisconnect from None


async def read_body(request: Request, bounds: Bounds) -> bytes:
    """The body. Raises FrameTooLargeError as soon as it is known to be over the bound, BodyTimeoutError for one that
    does not come, and ClientDisconnect."""
    most = bounds.body
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most:
        raise _too_large(most)
    parts: list[bytes] = []
    size, loop = 0, asyncio.get_running_loop()
    end = loop.time() + bounds.body_timeout
    try:
        async with asyncio.timeout(bounds.body_pause) as limit:
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise _too_large(most)
                parts.append(part)
                limit.reschedule(min(end, loop.time() + bounds.body_pause))
    except TimeoutError:
        raise BodyTimeoutError(f"the body did not come: {size} bytes of it, and then too long nothing") from None
    return b"".join(parts)


def _too_large(most: int) -> FrameTooLargeError:
    return FrameTooLargeError(f"the body is larger than {most} bytes")


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, None]) -> None:
    """Do the work, or cancel it the moment the client leaves, with ClientDisconnect. Raises what the work raises."""
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_watch(receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        working.result()
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


async def _watch(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
