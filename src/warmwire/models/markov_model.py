"""A chain on the generation wire: the last user text is the seed, and tokens are up to four bytes, as grall's are."""

from __future__ import annotations

import codecs
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from warmwire.errors import AttachmentError, InvalidRequestError, UsageError
from warmwire.markov.chain import Chain, load
from warmwire.markov.generation import Generation, checked_temperature
from warmwire.markov.styles import Style
from warmwire.models.interface import Capabilities, Finish
from warmwire.models.names import split_name
from warmwire.wire.generation.messages import OutBlock, Request, StopReason, Usage

SUFFIX: Final = ".gril"

TOKEN: Final = 4
"""Bytes of a token."""

DEFAULT_MAX_TOKENS: Final = 1024
"""For a request that names no limit: a chain seldom ends by itself."""

_PIECE: Final = 64
"""Tokens of a delta."""

_OPTIONS: Final[dict[str, Callable[[str], Any]]] = {
    "style": Style,
    "temperature": lambda text: checked_temperature(float(text)),
    "rng_seed": int,
}


@dataclass(frozen=True, slots=True)
class MarkovOptions:
    """What follows the `?` in `x.gril?style=line&rng_seed=7`. `rng_seed` makes equal requests give equal answers."""

    style: Style = Style.NEVER
    temperature: float = 1.0
    rng_seed: int | None = None


def parse_gril_name(name: str) -> tuple[Path, MarkovOptions]:
    """Path and options of a model's name. Raises UsageError for options that there are not."""
    path, given = split_name(name, _OPTIONS, suffix=SUFFIX)
    try:
        return Path(path), MarkovOptions(**{key: _OPTIONS[key](value) for key, value in given.items()})
    except ValueError as error:
        raise UsageError(f"{name!r}: {error}") from None


class MarkovModel:
    """Answers with text that may follow the prompt."""

    capabilities: Final = Capabilities()

    def __init__(self, chain: Chain, name: str = "markov", options: MarkovOptions | None = None) -> None:
        self._chain = chain
        self._name = name
        self._options = options or MarkovOptions()

    @classmethod
    def open(cls, name: str) -> MarkovModel:
        """Load and prepare a .gril file, perhaps with options: `x.gril?style=line`. Raises UsageError, InputError."""
        path, options = parse_gril_name(name)
        chain = load(path)
        chain.prepare()
        return cls(chain, path.name, options)

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
        options = self._options
        temperature = options.temperature if request.temperature is None else float(request.temperature)
        try:
            generation = Generation(
                self._chain,
                seed,
                limit=limit,
                temperature=temperature,
                style=options.style,
                rng_seed=options.rng_seed,
            )
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
