"""The echo model: no weights, for trying clients and for tests that need a real host.

It answers `[image id WxH]` for each image and then the last user text, in word-sized deltas.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

from warmwire.models.interface import Capabilities, Finish, Model
from warmwire.models.kind import Kind
from warmwire.wire.generation.messages import OutBlock, Request, StopReason, Usage

_WORDS: Final = re.compile(r"\s*\S+|\s+\Z")


class EchoModel:
    """Answers any request with what it was asked."""

    name: Final = "echo"
    capabilities: Final = Capabilities(vision=True)

    def generate(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        """Deltas are the tokens that are counted, those of the last user text as input."""
        words = _WORDS.findall(_last_text(request))
        finish = Finish(usage=Usage(len(words)))
        for delta in chain(_seen(request), words):
            if cancelled.is_set():
                finish.stop_reason = StopReason.CANCELLED
                break
            if finish.usage.output_tokens == (request.max_tokens or None):
                finish.stop_reason = StopReason.MAX_TOKENS
                break
            emit(OutBlock("text", delta))
            finish.usage.output_tokens += 1
        return finish


def _seen(request: Request) -> Iterator[str]:
    """What is said of each image."""
    for attachment in request.attachments:
        if attachment.kind == "image":
            yield f"[image {attachment.id} {attachment.width}x{attachment.height}]"


def _last_text(request: Request) -> str:
    for message in reversed(request.messages):
        texts = [block.text or "" for block in message.content if block.type == "text"]
        if message.role == "user" and texts:
            return texts[-1]
    return ""


class EchoKind(Kind):
    """`echo`."""

    word = "echo"
    usage = "echo"
    summary = "says what it was asked, for trying clients"
    capabilities = ("chat", "vision")

    def matches(self, name: str) -> bool:
        return name == self.word

    def load(self, name: str, threads: int | None) -> Model:
        return EchoModel()
