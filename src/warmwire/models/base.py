"""What a host can hold.

A `Handler` reads one page: it gets pixels and a prompt and emits text. A `Model` answers any request of the
generation wire. `PageModel` makes a model of a handler, so that a host knows models alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from warmwire.models.images import Image, decode_image
from warmwire.wire.errors import InvalidRequestError
from warmwire.wire.messages import OutBlock, Request, StopReason, Usage

Report = Mapping[str, Any]
"""What a model says about its own answer besides the text: JSON-ready, sent as `report` on the done frame."""


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

        Text emitted before an exception still reaches the client. Return early once `cancelled` is set.
        """


@dataclass(slots=True)
class Finish:
    """How an answer ended."""

    stop_reason: StopReason = StopReason.END_TURN
    usage: Usage = field(default_factory=Usage)
    report: Report | None = None


class Model(Protocol):
    """Answers requests of the generation wire."""

    @property
    def name(self) -> str:
        """The backend named on the done frame. For people only."""

    def generate(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        """Emit the answer's blocks in order, from the calling thread; return early once `cancelled` is set.

        Raises RequestError for what this model cannot answer.
        """


class PageModel:
    """Makes a model of a page handler. It takes exactly one user message with one image and one text.

    A handler's deltas are its tokens: they are counted, and end at `max_tokens`.
    """

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    @property
    def name(self) -> str:
        return self._handler.name

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

        try:
            finish.report = self._handler.generate(image, prompt, limit, emit_text, cancelled)
        except _LimitReached:
            pass
        return finish


class _LimitReached(Exception):
    pass


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
