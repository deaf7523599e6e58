"""`openai:URL#MODEL`: any server of the OpenAI format as a model of this host.

What the server can do is asked when it is loaded: whether it has the model, and with one short text each whether it
embeds and reranks. Nothing tells whether a model sees or hears, so that is taken for granted unless the server is a
llama.cpp one, which says so; a server that cannot take an image refuses the request that has one.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, Final
from urllib.parse import urlsplit

from warmwire.errors import BackendUnavailableError, CancelledError, InputError, RequestError, UsageError
from warmwire.models.docling import is_docling
from warmwire.models.interface import Capabilities
from warmwire.models.openai.model import ChatModel
from warmwire.models.openai.upstream import HttpUpstream, deadline
from warmwire.models.openai.vectors import GEMMA_PREFIXES, read_scores, read_vectors
from warmwire.system.text import printable

PREFIX: Final = "openai:"
KEY_VARIABLES: Final = ("WARMWIRE_API_KEY", "OPENAI_API_KEY")
_PROBE_TIMEOUT: Final = 30.0


def parse_name(name: str) -> tuple[str, str]:
    """Base URL and model id of `openai:URL#MODEL`; the id may be empty. Raises UsageError.

    A URL without a path gets /v1, where such servers keep their API.
    """
    url, _, model = name.removeprefix(PREFIX).partition("#")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{name!r}: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(
            f"{name!r} is not openai:URL#MODEL with an http or https URL, as openai:http://127.0.0.1:8000#m"
        )
    if parts.username is not None or parts.query:
        raise UsageError(f"{PREFIX}URL carries no key: put it in the variable {KEY_VARIABLES[0]}")
    path = parts.path.rstrip("/") or "/v1"
    return f"{parts.scheme}://{parts.netloc}{path}", model


def load_openai(name: str) -> ChatModel:
    """The model behind a URL. Raises UsageError for the name, InputError where the server does not have the model."""
    _require_httpx()
    base, model = parse_name(name)
    key = next((value for variable in KEY_VARIABLES if (value := os.environ.get(variable, "").strip())), "")
    upstream = HttpUpstream(base, key=key)
    model = _find_model(upstream, base, model)
    capabilities = _probe(upstream, base, model)
    prefixes = GEMMA_PREFIXES if "embeddinggemma" in model.lower().replace("-", "") else None
    # The tags of a page model are control tokens; vLLM writes them out when it is asked to.
    extra = {"skip_special_tokens": False} if is_docling(model) else None
    return ChatModel(printable(model, 100), capabilities, upstream, model=model, extra=extra, prefixes=prefixes)


def _require_httpx() -> None:
    try:
        import httpx  # noqa: F401
    except ImportError:
        raise InputError("openai: models need httpx; install it with: pip install 'warmwire[bridge]'") from None


def _find_model(upstream: HttpUpstream, base: str, wanted: str) -> str:
    """The id to ask for. A server that lists its models must have it; one that lists one needs no #MODEL."""
    try:
        status, body = upstream.get("/models", _PROBE_TIMEOUT)
    except BackendUnavailableError as error:
        raise InputError(f"{base}: {error}") from None
    if status in (401, 403):
        raise InputError(f"{base} refuses the key ({status}); put the right one in {KEY_VARIABLES[0]}")
    ids = _ids(body) if status == 200 else []
    if wanted:
        if ids and wanted not in ids:
            raise InputError(f"{base} has no model {wanted!r}; it has: {', '.join(ids[:20])}")
        return wanted
    if len(ids) != 1:
        listed = f"it has: {', '.join(ids[:20])}" if ids else "it lists none"
        raise InputError(f"say which model of {base} is meant, as {PREFIX}URL#MODEL; {listed}")
    return ids[0]


def _ids(body: bytes) -> list[str]:
    try:
        data = json.loads(body)["data"]
        return [item["id"] for item in data if isinstance(item["id"], str)]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []


def _probe(upstream: HttpUpstream, base: str, model: str) -> Capabilities:
    dimensions: int | None = None
    with deadline(_PROBE_TIMEOUT) as over, contextlib.suppress(RequestError, CancelledError):
        answer = upstream.call("embeddings", {"model": model, "input": ["a"], "encoding_format": "float"}, over)
        dimensions = read_vectors(answer, 1)[0].shape[1]
    reranks = False
    with deadline(_PROBE_TIMEOUT) as over, contextlib.suppress(RequestError, CancelledError):
        read_scores(upstream.call("rerank", {"model": model, "query": "a", "documents": ["a"]}, over), 1)
        reranks = True
    properties = _llama_properties(upstream, base)
    modalities = properties.get("modalities", {})
    known = isinstance(modalities, dict) and bool(modalities)
    return Capabilities(
        vision=modalities.get("vision") is True if known else True,
        audio=modalities.get("audio") is True if known else True,
        tools=True,
        thinking=True,
        structured_output=True,
        embed=dimensions is not None,
        rerank=reranks,
        dimensions=dimensions,
        accelerator="remote",
    )


def _llama_properties(upstream: HttpUpstream, base: str) -> dict[str, Any]:
    """What a llama.cpp server says of itself beside its API; nothing for any other."""
    parts = urlsplit(base)
    try:
        status, body = upstream.get(f"{parts.scheme}://{parts.netloc}/props", _PROBE_TIMEOUT)
        value = json.loads(body) if status == 200 else {}
    except (RequestError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
