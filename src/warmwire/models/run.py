"""One request of any surface to the method of a model that answers it."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable
from typing import cast

from warmwire.errors import BackendUnavailableError, InternalError, InvalidRequestError
from warmwire.models.interface import EmbeddingModel, Finish, Model, RerankModel
from warmwire.wire.generation.messages import OutBlock, Request, Usage
from warmwire.wire.tasks import (
    EmbedRequest,
    EmbedResponse,
    RerankRequest,
    RerankResponse,
    TaskResponse,
    TaskUsage,
    encode_line,
)


def run_model(
    model: Model,
    request: Request | EmbedRequest | RerankRequest,
    emit: Callable[[OutBlock], None],
    put: Callable[[bytes], None],
    cancelled: threading.Event,
) -> Finish:
    """Answer a request: blocks go to `emit`, the one line of embeddings or a ranking to `put`.

    Raises RequestError for what the model cannot answer.
    """
    if isinstance(request, Request):
        if not model.capabilities.generate:
            # Not a matter of when it is asked: clients of HTTP would ask an unavailable one again.
            raise InvalidRequestError(f"the model {model.name} does not generate text; ask a host whose model does")
        return model.generate(request, emit, cancelled)
    if isinstance(request, EmbedRequest):
        response = _embed(model, request, cancelled)
    else:
        response = _rerank(model, request, cancelled)
    put(encode_line(response))
    return Finish(usage=Usage(response.usage.input_tokens))


def _embed(model: Model, request: EmbedRequest, cancelled: threading.Event) -> TaskResponse:
    if not model.capabilities.embed:
        raise BackendUnavailableError("no embed-capable backend available")
    result = cast(EmbeddingModel, model).embed(
        request.input, cancelled, dimensions=request.dimensions, task=request.task
    )
    if not all(map(math.isfinite, itertools.chain.from_iterable(result.vectors))):
        raise InternalError(f"the model {model.name} gave a vector that is not all numbers")
    usage = TaskUsage(result.input_tokens)
    return EmbedResponse(request.id, result.vectors, result.dimensions, result.model, usage, model.name)


def _rerank(model: Model, request: RerankRequest, cancelled: threading.Event) -> TaskResponse:
    if not model.capabilities.rerank:
        raise BackendUnavailableError("no rerank-capable backend available")
    result = cast(RerankModel, model).rerank(request.query, request.documents, cancelled, top_n=request.top_n)
    if not all(math.isfinite(ranked.score) for ranked in result.results):
        raise InternalError(f"the model {model.name} gave a score that is no number")
    usage = TaskUsage(result.input_tokens)
    return RerankResponse(request.id, result.results, result.model, usage, model.name)
