"""The endpoints. Each request gets a connection of its own to the host: closing it is how this wire cancels, so the
request upstream lives exactly as long as its client here."""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, Final, NamedTuple, cast

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from warmwire.bridge.answers import ANY_MODEL, ChatShape, Chunk, Shape, TextShape
from warmwire.bridge.bodies import ChatBody, EmbeddingsBody, RerankBody, TextBody, read
from warmwire.bridge.convert import chat_request, media_in, text_request
from warmwire.bridge.errors import code_of, plain_error
from warmwire.bridge.guard import Guard
from warmwire.bridge.metrics import CONTENT_TYPE, Metrics, Record
from warmwire.bridge.output import Output, read_body, unless_gone
from warmwire.client import AsyncClient, Request
from warmwire.errors import (
    BackendUnavailableError,
    DialError,
    InternalError,
    InvalidRequestError,
    ProtocolError,
    WarmwireError,
)

log = logging.getLogger("warmwire.bridge")

_STATE_WAIT: Final = 3.0
"""Seconds within which a host that lives has told how it is."""

_NO_CAPABILITIES: Final = ("id", "type", "status", "backend", "wire_version", "v2")
"""Keys of the admin socket's line that say nothing of what a model can do."""

Work = Callable[[bytes, Output, Record], Coroutine[Any, Any, None]]
Explain = Callable[[DialError], Awaitable[WarmwireError]]


def make_app(addr: str, key: str | None = None) -> ASGIApp:
    """The bridge to the host at socket path `addr` as an ASGI application."""
    return Guard(_Bridge(addr).app(), key)


class _Endpoint:
    """One endpoint: its body in, its answer out, its client watched; whatever happens is answered and counted once."""

    def __init__(self, name: str, work: Work, metrics: Metrics, explain: Explain) -> None:
        self._name = name
        self._work = work
        self._metrics = metrics
        self._explain = explain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        output = Output(send)
        failure: WarmwireError | None = None
        with self._metrics.request(self._name) as record:
            try:
                body = await read_body(HttpRequest(scope, receive))
                await unless_gone(receive, self._work(body, output, record))
            except ClientDisconnect:
                record.outcome = "cancelled"
            except asyncio.CancelledError:  # the server has waited long enough
                failure = BackendUnavailableError("the bridge is shutting down")
            except DialError as error:
                failure = await self._explain(error)
            except WarmwireError as error:
                failure = error
            except Exception as error:
                log.exception("a request to %s failed", self._name)
                failure = InternalError(f"the bridge failed: {type(error).__name__}")
            if failure is not None:
                record.outcome = code_of(failure)
                with suppress(ClientDisconnect):
                    await output.error(failure)


class _Bridge:
    def __init__(self, addr: str) -> None:
        self._addr = addr
        self._metrics = Metrics()
        self._started = int(time.time())

    def app(self) -> Starlette:
        posts: dict[str, Work] = {
            "/v1/chat/completions": self._chat,
            "/v1/completions": self._complete,
            "/v1/embeddings": self._embed,
            "/v1/rerank": self._rerank,
        }
        gets: dict[str, Work] = {
            "/v1/models": self._models,
            "/health": self._health,
            "/ready": self._ready,
            "/metrics": self._count,
        }
        routes = [
            Route(path, _Endpoint(path, work, self._metrics, self._explain), methods=[method])
            for method, works in (("POST", posts), ("GET", gets))
            for path, work in works.items()
        ]
        return Starlette(routes=routes, exception_handlers={HTTPException: _http_error})

    def _client(self) -> AsyncClient:
        return AsyncClient(self._addr, wait=0)

    # ------------------------------------------------------------------ generation

    async def _chat(self, body: bytes, output: Output, record: Record) -> None:
        asked = read(body, ChatBody)
        if media := media_in(asked):
            rate = await self._sample_rate() if "input_audio" in media else None
            request = await asyncio.to_thread(chat_request, asked, rate)
        else:
            request = chat_request(asked)
        await self._generate(request, ChatShape(asked), bool(asked.stream), output, record)

    async def _complete(self, body: bytes, output: Output, record: Record) -> None:
        asked = read(body, TextBody)
        await self._generate(text_request(asked), TextShape(asked), bool(asked.stream), output, record)

    async def _generate(self, request: Request, shape: Shape, stream: bool, output: Output, record: Record) -> None:
        """One way for both modes: chunks as they come, sent at once or kept for the end."""

        async def put(new: list[Chunk]) -> None:
            record.delta()
            if stream:
                for chunk in new:
                    await output.event(chunk)
            else:
                for chunk in new:
                    shape.keep(chunk)

        async with self._client() as client, await client.generate(request) as answering:
            answering.answer.keep_text = not stream  # an error that comes before anything was sent tells it
            async for block in answering.blocks():
                await put(shape.take(block))
                if shape.stopped:
                    break
            answer = answering.answer
            record.input_tokens, record.output_tokens = answer.usage.input_tokens, answer.usage.output_tokens
            await put(shape.end(answer))
        await (output.done() if stream else output.json(shape.whole()))

    async def _sample_rate(self) -> int | None:
        """The rate at which the host's model hears, if it says so."""
        try:
            models = (await self._state()).models
        except WarmwireError:
            return None  # the request itself will tell what is wrong
        rates = (model.get("audio_sample_rate") for model in models)
        return next((rate for rate in rates if isinstance(rate, int) and rate > 0), None)

    # ------------------------------------------------------------------ vectors and scores

    async def _embed(self, body: bytes, output: Output, record: Record) -> None:
        asked = read(body, EmbeddingsBody)
        texts = [asked.input] if isinstance(asked.input, str) else asked.input
        if not all(isinstance(text, str) for text in texts):
            raise InvalidRequestError("input: a text or a list of texts; token ids mean nothing to another tokenizer")
        if asked.encoding_format not in (None, "float", "base64"):
            raise InvalidRequestError("encoding_format: float or base64")
        async with self._client() as client:
            found = await client.embed(texts, dimensions=asked.dimensions, task=asked.task)
        record.input_tokens = found.usage.input_tokens
        packed = asked.encoding_format == "base64"
        data = [
            {"object": "embedding", "index": i, "embedding": _pack(vector) if packed else vector}
            for i, vector in enumerate(found.embeddings)
        ]
        await output.json(
            {"object": "list", "data": data, "model": asked.model or found.model, "usage": _read(record.input_tokens)}
        )

    async def _rerank(self, body: bytes, output: Output, record: Record) -> None:
        asked = read(body, RerankBody)
        texts = [document if isinstance(document, str) else document.text for document in asked.documents]
        async with self._client() as client:
            found = await client.rerank(asked.query, texts, top_n=asked.top_n)
        if not all(0 <= ranked.index < len(texts) for ranked in found.results):
            raise ProtocolError(f"the host has ranked a text that is none of the {len(texts)} it was given")
        record.input_tokens = found.usage.input_tokens
        results: list[dict[str, Any]] = [
            {"index": ranked.index, "relevance_score": ranked.score} for ranked in found.results
        ]
        if asked.return_documents:
            for result in results:
                result["document"] = {"text": texts[result["index"]]}
        await output.json(
            {
                "object": "list",
                "model": asked.model or found.model,
                "results": results,
                "usage": _read(record.input_tokens),
            }
        )

    # ------------------------------------------------------------------ the host and this process

    async def _models(self, body: bytes, output: Output, record: Record) -> None:
        """What the host holds. Raises DialError where there is no host: a list would look like one."""
        try:
            found = (await self._state()).models
        except DialError:
            found = []
        if not found:  # a host that tells nothing of itself, or none
            async with self._client() as client:
                await client.connect()
            found = [{}]
        data = [
            {
                "id": str(model.get("backend", ANY_MODEL)),
                "object": "model",
                "created": self._started,
                "owned_by": "warmwire",
                "capabilities": {key: value for key, value in model.items() if key not in _NO_CAPABILITIES},
            }
            for model in found
        ]
        await output.json({"object": "list", "data": data})

    async def _health(self, body: bytes, output: Output, record: Record) -> None:
        await output.json({"status": "ok"})

    async def _ready(self, body: bytes, output: Output, record: Record) -> None:
        ready, reason = await self._readiness()
        await output.json({"ready": ready, "reason": reason}, 200 if ready else 503)

    async def _count(self, body: bytes, output: Output, record: Record) -> None:
        ready, _ = await self._readiness()
        await output.body(self._metrics.text(ready), CONTENT_TYPE)

    async def _readiness(self) -> tuple[bool, str]:
        """Whether a request would be taken now, and why. A host tells on its admin socket, if it has one."""
        try:
            host = await self._state()
        except BackendUnavailableError as error:
            return False, str(error)
        except WarmwireError:
            return await self._accepts([])
        if host.state != "ready":
            phase = f" ({host.phase})" if host.phase else ""
            return False, f"the host is not ready: {host.state.replace('_', ' ')}{phase}"
        return await self._accepts(host.models)

    async def _explain(self, error: DialError) -> WarmwireError:
        """Why nobody answers, in the host's own words if it has some: it loads its model, say."""
        ready, reason = await self._readiness()
        return error if ready else BackendUnavailableError(reason)

    async def _accepts(self, models: list[dict[str, Any]]) -> tuple[bool, str]:
        """A connect that succeeds means ready."""
        try:
            async with self._client() as client:
                await client.connect()
        except WarmwireError as error:
            return False, str(error)
        names = ", ".join(str(model.get("backend")) for model in models)
        return True, f"the host is ready: {names}" if names else "the host is ready"

    async def _state(self) -> _HostState:
        """What the host says of itself. Raises BackendUnavailableError where it says nothing; DialError."""
        events = cast(AsyncGenerator[dict[str, Any], None], self._client().events())
        models = []
        try:
            async with asyncio.timeout(_STATE_WAIT), aclosing(events):
                async for event in events:
                    kind = event.get("status")
                    if kind == "capabilities":
                        models.append(event)
                    elif isinstance(kind, str) and kind != "activity":
                        return _HostState(kind, event.get("phase"), models)
        except TimeoutError:
            raise BackendUnavailableError(f"the host has not told its state within {_STATE_WAIT:g} s") from None
        raise BackendUnavailableError("the host ended before it told its state")


class _HostState(NamedTuple):
    """A host's state, the phase of one that loads, and what its models can do."""

    state: str
    phase: str | None
    models: list[dict[str, Any]]


def _pack(vector: list[float]) -> str:
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()


def _read(tokens: int) -> dict[str, int]:
    return {"prompt_tokens": tokens, "total_tokens": tokens}


async def _http_error(request: HttpRequest, error: Exception) -> JSONResponse:
    """What no endpoint has answered: a path or a method that is none."""
    assert isinstance(error, HTTPException)
    code = "not_found" if error.status_code == 404 else "invalid_request"
    message = f"{request.method} {request.url.path}: {error.detail.lower()}"
    return JSONResponse(plain_error(error.status_code, code, message), error.status_code, headers=error.headers)
