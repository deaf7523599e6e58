"""A chain on the generation wire: the last user text is the seed, and tokens are up to four bytes, as grall's are."""

from __future__ import annotations

import codecs
import os
import threading
from collections.abc import Callable
from typing import Final

from warmwire.models.base import Finish
from warmwire.models.markov.chain import Chain, load
from warmwire.models.markov.generation import Generation
from warmwire.models.markov.styles import Style
from warmwire.wire.errors import AttachmentError, InvalidRequestError, UsageError
from warmwire.wire.messages import OutBlock, Request, StopReason, Usage

TOKEN: Final = 4
"""Bytes of a token."""

DEFAULT_MAX_TOKENS: Final = 1024
"""For a request that names no limit: a chain seldom ends by itself."""

_PIECE: Final = 64
"""Tokens of a delta."""


class MarkovModel:
    """Answers with text that may follow the prompt."""

    def __init__(self, chain: Chain, name: str = "markov", style: Style = Style.NEVER) -> None:
        self._chain = chain
        self._name = name
        self._style = style

    @classmethod
    def open(cls, path: str | os.PathLike[str], style: Style = Style.NEVER) -> MarkovModel:
        """Load a .gril file and prepare it. Raises InputError."""
        chain = load(path)
        chain.prepare()
        return cls(chain, os.path.basename(os.fspath(path)), style)

    @property
    def name(self) -> str:
        return self._name

    def check(self, request: Request) -> None:
        """Raises InvalidRequestError or AttachmentError for what a chain of bytes cannot answer."""
        if request.attachments:
            raise AttachmentError("a Markov model reads text only; leave the attachments out")
        if request.tools or request.tool_choice:
            raise InvalidRequestError("a Markov model takes no tools")
        for message in request.messages:
            for block in message.content:
                if block.type != "text":
                    raise InvalidRequestError(f"a Markov model takes no {block.type} block")

    def generate(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        """Deltas are whole characters; bytes that are none become U+FFFD. The report says why the answer ended.

        A character that the limit cuts is left out.
        """
        self.check(request)
        seed = _last_user_text(request).encode("utf-8", "replace")
        limit = TOKEN * (request.max_tokens or DEFAULT_MAX_TOKENS)
        temperature = 1.0 if request.temperature is None else float(request.temperature)
        try:
            generation = Generation(self._chain, seed, limit=limit, temperature=temperature, style=self._style)
        except UsageError as error:
            raise InvalidRequestError(str(error)) from error
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        usage = Usage(-(-len(seed) // TOKEN))
        made = 0
        while not generation.ended and not cancelled.is_set():
            piece = generation.take(TOKEN * _PIECE)
            made += len(piece)
            if text := decoder.decode(piece):
                emit(OutBlock("text", text))
        if generation.remaining != 0 and (text := decoder.decode(b"", final=True)):
            emit(OutBlock("text", text))
        usage.output_tokens = -(-made // TOKEN)
        if cancelled.is_set():
            return Finish(StopReason.CANCELLED, usage)
        if generation.remaining == 0:
            return Finish(StopReason.MAX_TOKENS, usage, {"ended": "limit"})
        return Finish(StopReason.END_TURN, usage, {"ended": "style" if generation.stopped else "unknown_context"})


def _last_user_text(request: Request) -> str:
    for message in reversed(request.messages):
        if message.role == "user":
            return "".join(block.text or "" for block in message.content if block.type == "text")
    return ""
