"""Embeddings and scores out of the answers of a model's server: checked, in order, of length 1."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from warmwire.errors import BackendUnavailableError, InvalidRequestError

_T = TypeVar("_T")

GEMMA_PREFIXES: Final = {
    "retrieval_query": "task: search result | query: ",
    "retrieval_document": "title: none | text: ",
    "similarity": "task: sentence similarity | query: ",
    "classification": "task: classification | query: ",
    "clustering": "task: clustering | query: ",
    "question_answering": "task: question answering | query: ",
    "fact_verification": "task: fact checking | query: ",
    "code_retrieval_query": "task: code retrieval | query: ",
}
"""What EmbeddingGemma was trained to find before a text, by the task of the wire."""


class _Vector(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _VectorUsage(msgspec.Struct):
    prompt_tokens: int | None = None
    total_tokens: int | None = None


class _Vectors(msgspec.Struct):
    data: list[_Vector]
    usage: _VectorUsage | None = None


class _Score(msgspec.Struct):
    index: int
    relevance_score: float | None = None
    score: float | None = None


class _Scores(msgspec.Struct):
    results: list[_Score]
    usage: _VectorUsage | None = None


def read_vectors(answer: bytes, count: int) -> tuple[NDArray[np.float64], int]:
    """The vectors of `count` texts as rows, and the tokens read. Raises BackendUnavailableError for anything else."""
    value = _decode(answer, _Vectors, "embeddings")
    rows = sorted(enumerate(value.data), key=lambda item: item[0] if item[1].index is None else item[1].index)
    if len(rows) != count:
        raise BackendUnavailableError(f"the model's server sent {len(rows)} embeddings for {count} texts")
    widths = {len(vector.embedding) for _, vector in rows}
    if len(widths) != 1 or not widths.pop():
        raise BackendUnavailableError("the model's server sent embeddings of different widths, or empty ones")
    matrix = np.array([vector.embedding for _, vector in rows], np.float64)
    if not np.isfinite(matrix).all():
        raise BackendUnavailableError("the model's server sent an embedding with numbers that are not finite")
    return matrix, _tokens(value.usage)


def read_scores(answer: bytes, count: int) -> tuple[list[float], int]:
    """The score of each of `count` documents, and the tokens read. Raises BackendUnavailableError for anything else."""
    value = _decode(answer, _Scores, "rerank")
    scores: dict[int, float] = {}
    for result in value.results:
        score = result.score if result.relevance_score is None else result.relevance_score
        if score is None or not np.isfinite(score):
            raise BackendUnavailableError("the model's server sent a document without a finite score")
        scores[result.index] = score
    if sorted(scores) != list(range(count)):
        raise BackendUnavailableError(f"the model's server did not score each of the {count} documents once")
    return [scores[i] for i in range(count)], _tokens(value.usage)


def shorten(matrix: NDArray[np.float64], dimensions: int | None) -> list[list[float]]:
    """The first `dimensions` numbers of each row, at length 1. Raises InvalidRequestError if there are fewer."""
    width = matrix.shape[1]
    if dimensions is not None and not 0 < dimensions <= width:
        raise InvalidRequestError(f"dimensions must be 1 to {width}, the width of this model, not {dimensions}")
    short = matrix[:, :dimensions]
    lengths = np.linalg.norm(short, axis=1, keepdims=True)
    rows: list[list[float]] = (short / np.where(lengths > 0, lengths, 1)).tolist()
    return rows


def _decode(answer: bytes, kind: type[_T], what: str) -> _T:
    try:
        return msgspec.json.decode(answer, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BackendUnavailableError(
            f"the model's server answered {what} with something else: {bytes(answer[:120])!r} ({error})"
        ) from None


def _tokens(usage: _VectorUsage | None) -> int:
    if usage is None:
        return 0
    counted: Any = usage.total_tokens if usage.prompt_tokens is None else usage.prompt_tokens
    return min(max(0, counted or 0), (1 << 32) - 1)
