"""Talking to a model's server over HTTP, on TCP or on a Unix socket.

A request must end the moment its client has gone, in whatever state it is: connecting, waiting for the first token, in
the middle of a line. Blocking calls cannot be ended from outside, so each one runs on an event loop of its own and is
cancelled there, which closes its connection; closing is what every such server takes as cancel.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import msgspec

from warmwire.errors import BackendUnavailableError, CancelledError, RequestError
from warmwire.models.openai.errors import status_error
from warmwire.system.timer import if_longer

if TYPE_CHECKING:
    import httpx

_T = TypeVar("_T")
_CONNECT_TIMEOUT: Final = 10.0
_LOOK: Final = 0.02
"""Seconds between two looks at the cancel flag."""

_MAX_LINE: Final = 16 << 20
_MAX_BODY: Final = 256 << 20
_MAX_ERROR: Final = 64 << 10
_DONE: Final = b"[DONE]"

_SHORTEST_SECRET: Final = 11
"""Characters. What is given where no key is needed (none, EMPTY, lm-studio, not-needed) is shorter, and may be a word
of any answer; a complaint loses it all the same."""


class Upstream(Protocol):
    """What answers in the OpenAI format."""

    def chat(self, body: dict[str, Any], take: Callable[[bytes], None], cancelled: threading.Event) -> None:
        """Pass each chunk of a streamed chat completion to `take`, on the calling thread.

        Returns early, with the work upstream ended, once `cancelled` is set or `take` raises; passes its error on.
        Raises RequestError.
        """

    def call(self, path: str, body: dict[str, Any], cancelled: threading.Event) -> bytes:
        """The answer of `embeddings` or `rerank`. Raises RequestError, or CancelledError once `cancelled` is set."""


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[threading.Event]:
    """A cancel flag that is set after so many seconds, unless the block has ended by then."""
    over = threading.Event()
    with if_longer(seconds, over.set):
        yield over


class HttpUpstream:
    """A server behind `base`, such as http://127.0.0.1:8000/v1. `uds` is the path of its socket, if it has one.

    The key goes into the Authorization header and nowhere else.
    """

    def __init__(self, base: str, *, key: str = "", uds: str | None = None) -> None:
        self._base = base.rstrip("/")
        self._key = key
        self._uds = uds
        self._tls = ssl.create_default_context() if base.startswith("https:") else False

    def chat(self, body: dict[str, Any], take: Callable[[bytes], None], cancelled: threading.Event) -> None:
        async def stream(client: httpx.AsyncClient) -> None:
            async with client.stream("POST", "/chat/completions", **_json(body)) as response:
                if response.status_code != 200:
                    raise await self._refusal(response)
                kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind == "application/json":
                    take(self._shown(await _read(response, _MAX_BODY)))
                    return
                if kind != "text/event-stream":
                    raise BackendUnavailableError(
                        f"the model's server answered a chat completion with {kind or 'no content type'};"
                        " is the URL the one its API is at?"
                    )
                async for data in _events(response.aiter_bytes()):
                    take(self._shown(data))

        self._run(stream, cancelled)

    def call(self, path: str, body: dict[str, Any], cancelled: threading.Event) -> bytes:
        async def post(client: httpx.AsyncClient) -> bytes:
            async with client.stream("POST", "/" + path, **_json(body)) as response:
                if response.status_code != 200:
                    raise await self._refusal(response)
                return self._shown(await _read(response, _MAX_BODY))

        return self._run(post, cancelled)

    def get(self, path: str, timeout: float) -> tuple[int, bytes]:
        """Status and body of a GET, whatever the status. Raises BackendUnavailableError."""

        async def fetch(client: httpx.AsyncClient) -> tuple[int, bytes]:
            async with client.stream("GET", path) as response:
                return response.status_code, self._shown(await _read(response, _MAX_BODY))

        try:
            with deadline(timeout) as over:
                return self._run(fetch, over)
        except CancelledError:
            raise BackendUnavailableError(f"{self._base} does not answer within {timeout:g} s") from None

    async def _refusal(self, response: httpx.Response) -> RequestError:
        body = await _read(response, _MAX_ERROR)
        return status_error(response.status_code, self._without_key(body))

    def _shown(self, data: bytes) -> bytes:
        """What the server said, fit to be passed on or quoted."""
        return data if len(self._key) < _SHORTEST_SECRET else self._without_key(data)

    def _without_key(self, data: bytes) -> bytes:
        # Some servers repeat it in their complaint, and some of those write a slash in JSON with a backslash.
        for form in filter(None, {self._key, self._key.replace("/", "\\/")}):
            data = data.replace(form.encode(), b"[key]")
        return data

    def _run(self, work: Callable[[httpx.AsyncClient], Awaitable[_T]], cancelled: threading.Event) -> _T:
        try:
            return asyncio.run(self._watched(work, cancelled))
        except asyncio.CancelledError:
            raise CancelledError("the request was cancelled") from None

    async def _watched(self, work: Callable[[httpx.AsyncClient], Awaitable[_T]], cancelled: threading.Event) -> _T:
        task = asyncio.current_task()
        assert task is not None

        async def watch() -> None:
            while not cancelled.is_set():
                await asyncio.sleep(_LOOK)
            task.cancel()

        watcher = asyncio.create_task(watch())
        try:
            return await self._translated(work)
        finally:
            watcher.cancel()

    async def _translated(self, work: Callable[[httpx.AsyncClient], Awaitable[_T]]) -> _T:
        """Run it with a client of its own; what httpx calls an error becomes a sentence that names the server."""
        import httpx

        # A connection of its own as well: one kept from before may be dead, and a POST cannot be sent twice.
        transport = httpx.AsyncHTTPTransport(
            verify=self._tls,
            uds=self._uds,
            limits=httpx.Limits(max_keepalive_connections=0),
            socket_options=None if self._uds else _keepalive(),
        )
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        timeout = httpx.Timeout(None, connect=_CONNECT_TIMEOUT)
        where = self._uds or self._base
        try:
            async with httpx.AsyncClient(
                base_url=self._base, transport=transport, headers=headers, timeout=timeout, trust_env=False
            ) as client:
                return await work(client)
        except httpx.ConnectError as error:
            raise BackendUnavailableError(f"nothing answers at {where}: {error or 'no connection'}") from None
        except (httpx.TimeoutException, TimeoutError):
            raise BackendUnavailableError(f"{where} does not answer in time") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise BackendUnavailableError(
                f"the connection to {where} broke before the answer was complete: {error or type(error).__name__}"
            ) from None


def _json(body: dict[str, Any]) -> dict[str, Any]:
    # Not json=: msgspec writes a page of base64 an order of magnitude faster.
    return {"content": msgspec.json.encode(body), "headers": {"Content-Type": "application/json"}}


def _keepalive() -> list[tuple[int, int, int]]:
    """A server that has vanished without a word is noticed within minutes: an answer itself may take long to begin."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 6)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


async def _read(response: httpx.Response, limit: int) -> bytes:
    """The body, at most `limit` bytes of it."""
    parts, size = [], 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size += len(part)
        if size > limit:
            break
    return b"".join(parts)[:limit]


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of each server-sent event up to [DONE]. Raises BackendUnavailableError for a line without end."""
    parts: list[bytes] = []  # of a line whose end has not come
    size = 0
    async for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > _MAX_LINE:
            raise BackendUnavailableError(f"the model's server sent a line of more than {_MAX_LINE} bytes")
        if b"\n" not in chunk:
            continue
        *lines, rest = b"".join(parts).split(b"\n")
        parts, size = [rest], len(rest)
        for line in lines:
            data = _data(line)
            if data == _DONE:
                return
            if data:
                yield data
    data = _data(b"".join(parts))  # a last line without its newline
    if data and data != _DONE:
        yield data


def _data(line: bytes) -> bytes:
    return line[5:].strip() if line.startswith(b"data:") else b""
