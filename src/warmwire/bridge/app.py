"""The endpoints. Each request gets a connection of its own to the host: closing it is how this wire cancels, so the
request upstream lives exactly as long as its client here."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from warmwire.bridge.answers import ChatShape, Chunk, Shape, TextShape
from warmwire.bridge.bodies import ChatBody, EmbeddingsBody, RerankBody, Sampling, TextBody, read
from warmwire.bridge.convert import chat_request, media_in, text_request
from warmwire.bridge.documents import Documents
from warmwire.bridge.endpoint import Endpoint, Work
from warmwire.bridge.errors import plain_error
from warmwire.bridge.fleet.look import look
from warmwire.bridge.guard import Guard
from warmwire.bridge.metrics import CONTENT_TYPE, Metrics, Record
from warmwire.bridge.output import Bounds, Output
from warmwire.bridge.router import OneHost, Router, Say, silently
from warmwire.client import AsyncClient, Request
from warmwire.errors import (
    InvalidRequestError,
    ProtocolError,
    WarmwireError,
)

_NO_CAPABILITIES: Final = ("id", "type", "status", "backend", "wire_version", "v2")
"""Keys of the admin socket's line that say nothing of what a model can do."""


def make_app(hosts: str | Router, key: str | None = None, bounds: Bounds | None = None) -> ASGIApp:
    """The bridge to the host at a socket path, or to all that a router knows, as an ASGI application.

    A router is started and closed with the application's lifespan.
    """
    return Guard(_Bridge(OneHost(hosts) if isinstance(hosts, str) else hosts, bounds or Bounds()).app(), key)


class _Bridge:
    def __init__(self, router: Router, bounds: Bounds) -> None:
        self._router, self._bounds = router, bounds
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
            Route(path, Endpoint(path, work, self._metrics, self._bounds), methods=[method])
            for method, works in (("POST", posts), ("GET", gets))
            for path, work in works.items()
        ]
        routes += Documents(self._router, self._metrics, self._bounds).routes()
        return Starlette(routes=routes, exception_handlers={HTTPException: _http_error}, lifespan=self._live)

    @asynccontextmanager
    async def _live(self, app: Starlette) -> AsyncIterator[None]:
        await self._router.start()
        try:
            yield
        finally:
            await self._router.close()

    @asynccontextmanager
    async def _client(self, model: str | None, say: Say = silently) -> AsyncIterator[AsyncClient]:
        """A client of a model's host, which is kept for as long."""
        async with self._router.host(model, say) as addr, AsyncClient(addr, wait=0) as client:
            yield client

    # ------------------------------------------------------------------ generation

    async def _chat(self, http: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        asked = read(body, ChatBody)
        if media := media_in(asked):
            rate = await self._sample_rate(asked.model) if "input_audio" in media else None
            request = await asyncio.to_thread(chat_request, asked, rate)
        else:
            request = chat_request(asked)
        await self._generate(request, ChatShape(asked), asked, output, record)

    async def _complete(self, http: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        asked = read(body, TextBody)
        await self._generate(text_request(asked), TextShape(asked), asked, output, record)

    async def _generate(self, request: Request, shape: Shape, asked: Sampling, output: Output, record: Record) -> None:
        """One way for both modes: chunks as they come, sent at once or kept for the end."""
        stream = bool(asked.stream)

        async def put(new: list[Chunk]) -> None:
            record.delta()
            if stream:
                for chunk in new:
                    await output.event(chunk)
            else:
                for chunk in new:
                    shape.keep(chunk)

        say = output.comment if stream else silently
        async with self._client(asked.model, say) as client, await client.generate(request) as answering:
            answering.answer.keep_text = not stream  # an error that comes before anything was sent tells it
            async for block in answering.blocks():
                await put(shape.take(block))
                if shape.stopped:
                    break
            answer = answering.answer
            record.input_tokens, record.output_tokens = answer.usage.input_tokens, answer.usage.output_tokens
            await put(shape.end(answer))
        await (output.done() if stream else output.json(shape.whole()))

    async def _sample_rate(self, model: str | None) -> int | None:
        """The rate at which a host's model hears, if it says so."""
        try:
            async with self._router.host(model, silently) as addr:
                models = (await look(addr)).models
        except WarmwireError:
            return None  # the request itself will tell what is wrong
        rates = (model.get("audio_sample_rate") for model in models)
        return next((rate for rate in rates if isinstance(rate, int) and rate > 0), None)

    # ------------------------------------------------------------------ vectors and scores

    async def _embed(self, http: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        asked = read(body, EmbeddingsBody)
        texts = [asked.input] if isinstance(asked.input, str) else asked.input
        if not all(isinstance(text, str) for text in texts):
            raise InvalidRequestError("input: a text or a list of texts; token ids mean nothing to another tokenizer")
        if asked.encoding_format not in (None, "float", "base64"):
            raise InvalidRequestError("encoding_format: float or base64")
        async with self._client(asked.model) as client:
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

    async def _rerank(self, http: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        asked = read(body, RerankBody)
        texts = [document if isinstance(document, str) else document.text for document in asked.documents]
        async with self._client(asked.model) as client:
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

    # ------------------------------------------------------------------ the hosts and this process

    async def _models(self, http: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        data = [
            {
                "id": model.name,
                "object": "model",
                "created": self._started,
                "owned_by": "warmwire",
                "capabilities": {key: value for key, value in model.able.items() if key not in _NO_CAPABILITIES},
                **model.more,
            }
            for model in await self._router.models()
        ]
        await output.json({"object": "list", "data": data})

    async def _health(self, http: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        await output.json({"status": "ok"})

    async def _ready(self, http: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        ready, reason, models = await self._router.readiness()
        told = {"ready": ready, "reason": reason} | ({} if models is None else {"models": models})
        await output.json(told, 200 if ready else 503)

    async def _count(self, http: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        await output.body(self._metrics.text((await self._router.readiness()).ready), CONTENT_TYPE)


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
