"""What a host can hold.

A `Handler` reads one page: it gets pixels and a prompt and emits text. A `Model` answers any request of the
generation wire, and says beforehand what it can do; one that embeds or reranks is an `EmbeddingModel` or a
`RerankModel` as well. `PageModel` makes a model of a handler, so that a host knows models alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import msgspec

from warmwire.errors import InvalidRequestError
from warmwire.media.images import Image, decode_image
from warmwire.wire.generation.messages import OutBlock, Request, StopReason, Usage
from warmwire.wire.tasks import Ranked


class Capabilities(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a model can do, known once it is loaded. The names are those of the admin socket, where it has them."""

    generate: bool = True
    """Answers requests of the generation wire."""

    vision: bool = False
    audio: bool = False
    audio_sample_rate: int | None = None
    """The one rate, in Hz, at which audio is taken; None: any."""

    tools: bool = False
    thinking: bool = False
    pages: bool = False
    """Reads pages and nothing else: one image and at most one text a request."""

    structured_output: bool = False
    """Holds an answer to a JSON schema."""

    embed: bool = False
    """Is an `EmbeddingModel`."""

    rerank: bool = False
    """Is a `RerankModel`."""

    context: int | None = None
    """Tokens of prompt and answer together; None: unknown."""

    dimensions: int | None = None
    """Width of an embedding; None: unknown, or no embeddings."""

    accelerator: str = "cpu"
    """cpu, cuda, metal, vulkan, rocm, or remote where another server computes."""

    gpu_layers: int = 0
    device_name: str | None = None
    vram_total_bytes: int | None = None


class Embeddings(msgspec.Struct):
    """One vector for each text, in order; each of length 1 and of `dimensions` numbers."""

    vectors: list[list[float]]
    dimensions: int
    model: str
    input_tokens: int = 0


class Ranking(msgspec.Struct):
    """Documents, best first; equal scores keep the order of the request."""

    results: list[Ranked]
    model: str
    input_tokens: int = 0


Report = Mapping[str, Any]
"""What a model says about its own answer besides the text: JSON-ready, sent as `report` on the done frame."""


@runtime_checkable
class Handler(Protocol):
    """Reads one page at a time. Called from one thread; never twice at once on one connection."""

    @property
    def name(self) -> str:
        """The backend named on the done frame. For people only."""

    def generate(
        self,
        image: Image,
        prompt: str,
        max_tokens: int | None,
        emit: Callable[[str], None],
        cancelled: threading.Event,
    ) -> Report | None:
        """Emit the answer piece by piece, in order, from the calling thread.

        An `emit` that is `Hearing` is told how far the page is as well, by handlers that can. Text
        emitted before an exception still reaches the client. Return early once `cancelled` is set.
        """


Progress = Callable[[int, int], None]
"""Hears how many parts of an answer are done, for a page its lines, and of how many."""


@runtime_checkable
class Hearing(Protocol):
    """An `emit` of a handler whose client wants to hear how far its page is as well."""

    def __call__(self, text: str, /) -> None:
        """Emit a piece of the answer."""

    def progress(self, done: int, total: int, /) -> None:
        """So many of the page's lines have been read. Called from the thread that emits."""


@dataclass(slots=True)
class Finish:
    """How an answer ended."""

    stop_reason: StopReason = StopReason.END_TURN
    usage: Usage = field(default_factory=Usage)
    report: Report | None = None


class Model(Protocol):
    """Answers requests of the generation wire. `generate` runs on one thread at a time."""

    @property
    def name(self) -> str:
        """The backend named on the done frame. For people only."""

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do."""

    def generate(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        """Emit the answer's blocks in order, from the calling thread; return early once `cancelled` is set.

        Raises RequestError for what this model cannot answer.
        """


class EmbeddingModel(Model, Protocol):
    """A model whose capabilities say `embed`."""

    def embed(
        self,
        texts: list[str],
        cancelled: threading.Event,
        *,
        dimensions: int | None = None,
        task: str | None = None,
    ) -> Embeddings:
        """Vectors for texts that are not empty. `dimensions` asks for the first so many numbers, brought to length 1.

        `task` is one of the wire's names; a model that was trained with prompts puts the right one before each text.
        Raises RequestError for what this model cannot embed.
        """


class RerankModel(Model, Protocol):
    """A model whose capabilities say `rerank`."""

    def rerank(
        self, query: str, documents: list[str], cancelled: threading.Event, *, top_n: int | None = None
    ) -> Ranking:
        """How well each document answers the query; the `top_n` best. Raises RequestError."""


def rank(scores: list[float], top_n: int | None = None) -> list[Ranked]:
    """Scores by index, best first, equal ones in order; the `top_n` first of them."""
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    return [Ranked(index, scores[index]) for index in order[:top_n]]


class PageModel:
    """Makes a model of a page handler. It takes exactly one user message with one image and one text.

    A handler's deltas are its tokens: they are counted, and end at `max_tokens`.
    """

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    @property
    def name(self) -> str:
        return self._handler.name

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(vision=True, pages=True)

    def generate(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        """Raises InvalidRequestError for anything but a page and its prompt."""
        image, prompt = page_of(request)
        limit = request.max_tokens or None
        finish = Finish()
        usage = finish.usage

        def emit_text(text: str) -> None:
            if usage.output_tokens == limit:
                finish.stop_reason = StopReason.MAX_TOKENS
                raise _LimitReached
            usage.output_tokens += 1
            emit(OutBlock("text", text))

        def emit_progress(done: int, total: int) -> None:
            emit(OutBlock("progress", done=done, total=total))

        heard = _Hearing(emit_text, emit_progress) if request.progress else emit_text
        try:
            finish.report = self._handler.generate(image, prompt, limit, heard, cancelled)
        except _LimitReached:
            pass
        return finish


class _LimitReached(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Hearing:
    emit: Callable[[str], None]
    progress: Progress

    def __call__(self, text: str) -> None:
        self.emit(text)


def page_of(request: Request) -> tuple[Image, str]:
    """The image and the prompt of a page request. Raises InvalidRequestError that names what is too much or missing."""
    if request.tools or request.tool_choice:
        raise InvalidRequestError("a page model takes no tools")
    if len(request.messages) != 1 or request.messages[0].role != "user":
        raise InvalidRequestError("a page model takes exactly one user message")
    blocks = request.messages[0].content
    images = [b for b in blocks if b.type == "image"]
    texts = [b for b in blocks if b.type == "text"]
    for block in blocks:
        if block.type not in ("image", "text"):
            raise InvalidRequestError(f"a page model takes no {block.type} block")
    if len(images) != 1 or len(texts) > 1 or len(request.attachments) != 1:
        raise InvalidRequestError(
            f"a page model takes one image and one text, got {len(images)} image and {len(texts)} text blocks"
            f" and {len(request.attachments)} attachments"
        )
    return decode_image(request.attachments[0]), texts[0].text or "" if texts else ""
