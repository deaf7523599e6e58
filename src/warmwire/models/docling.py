"""Chat models that read pages: granite-docling above all, which answers in DocTags.

It was trained on a handful of sentences and on nothing else, with the image before the text; it is asked greedily, its
tags are control tokens that must be written out, and on pages that are too hard it falls into a loop. Any other model
with eyes can be asked as well; it answers what it answers.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Final

import numpy as np

from warmwire.errors import BackendUnavailableError, CancelledError, InputError, TruncatedError
from warmwire.media.images import Image, image_attachment
from warmwire.models.interface import Capabilities, Finish, Model, Report, page_of
from warmwire.models.openai.upstream import deadline
from warmwire.wire.generation.messages import (
    PROMPT_PAGE,
    Message,
    OutBlock,
    Request,
    StopReason,
    Usage,
    image_block,
    text_block,
)
from warmwire.wire.generation.text import Repetition, StopStrings

PROMPT_CHART: Final = "Convert chart to table."
PROMPT_FORMULA: Final = "Convert formula to LaTeX."
PROMPT_CODE: Final = "Convert code to text."
PROMPT_TABLE: Final = "Convert table to OTSL."

MAX_TOKENS: Final = 8192
"""Most tokens of one page's answer, also where more are asked for: the model has no longer pages."""

_END: Final = "</doctag>"
_ENDS: Final = (_END, "<|end_of_text|>", "<end_of_utterance>", "<|im_end|>", "<|endoftext|>")
"""What ends an answer. With control tokens written out, so is the one that ends the turn."""

_AFTERTHOUGHT: Final = 200
"""Characters after the end at which a model that does not stop by itself is stopped."""

_PROBE_TIMEOUT: Final = 300.0

_NAME: Final = re.compile(r"(granite|smol)[-_ ]?docling", re.IGNORECASE)
_TAG: Final = re.compile(r"<(?!loc_)[a-z_0-9]+>")


def is_docling(name: str) -> bool:
    """Whether a model by that name answers in DocTags."""
    return _NAME.search(name) is not None


class PageChat:
    """A chat model as a page `Handler`: one image, one prompt, text."""

    def __init__(self, model: Model, *, doctags: bool) -> None:
        self._model = model
        self._ends = _ENDS if doctags else ()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def capabilities(self) -> Capabilities:
        """Those of the model that is asked."""
        return self._model.capabilities

    def generate(
        self,
        image: Image,
        prompt: str,
        max_tokens: int | None,
        emit: Callable[[str], None],
        cancelled: threading.Event,
    ) -> Report | None:
        """See `Handler.generate`. Raises TruncatedError for a page that runs into the bound or into a loop."""
        finish = self.read(image, prompt, max_tokens, emit, cancelled)
        if finish.stop_reason == StopReason.MAX_TOKENS:
            raise TruncatedError(
                "the model began to repeat itself" if finish.report else "the answer ran into its token bound"
            )
        return finish.report

    def read(
        self,
        image: Image,
        prompt: str,
        max_tokens: int | None,
        emit: Callable[[str], None],
        cancelled: threading.Event,
    ) -> Finish:
        """Read one page; an answer in a loop ends as one that ran into its bound, and its report says `repetition`.

        Raises RequestError, and BackendUnavailableError for an answer of nothing: a blank page has its tags too.
        """
        answer = _PageAnswer(self._ends, emit)
        try:
            finish = self._model.generate(_request(image, prompt, max_tokens), answer.take, cancelled)
        except _Enough as enough:
            finish = Finish(enough.reason, Usage(output_tokens=answer.deltas), enough.report)
        answer.end()
        if not answer.said:
            raise BackendUnavailableError("the model answered nothing for this page")
        return finish


class PageChatModel:
    """A page reading chat model as a `Model` that takes exactly one page, like the page reader."""

    def __init__(self, reader: PageChat) -> None:
        self._reader = reader
        whole = reader.capabilities
        self.capabilities = Capabilities(
            vision=True,
            context=whole.context,
            accelerator=whole.accelerator,
            gpu_layers=whole.gpu_layers,
            device_name=whole.device_name,
            vram_total_bytes=whole.vram_total_bytes,
        )

    @property
    def name(self) -> str:
        return self._reader.name

    def generate(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        """Raises InvalidRequestError for anything but a page and its prompt, and RequestError."""
        image, prompt = page_of(request)

        def emit_text(text: str) -> None:
            emit(OutBlock("text", text))

        return self._reader.read(image, prompt, request.max_tokens or None, emit_text, cancelled)


def check_tags(reader: PageChat) -> None:
    """Read a small made-up page once. Raises InputError where a server swallows the model's tags.

    Servers of the OpenAI format drop control tokens unless told otherwise; pages would arrive as words run together.
    """
    page = np.full((256, 256, 3), 255, np.uint8)
    page[40:200:20, 30:220:3] = 0  # lines of something like letters
    parts: list[str] = []
    try:
        with deadline(_PROBE_TIMEOUT) as over:
            reader.read(page, PROMPT_PAGE, 24, parts.append, over)
    except CancelledError:
        raise InputError(f"{reader.name} has not read a made-up page within {_PROBE_TIMEOUT:g} s") from None
    except BackendUnavailableError as error:
        reason = str(error)
    else:
        reason = f"it answers {''.join(parts)[:60]!r}"
    if not _TAG.search("".join(parts)):
        raise InputError(
            f"{reader.name} answers without its tags ({reason}): its server must write special tokens out"
            " (llama-server --special; vLLM does so when it honours skip_special_tokens)"
        )


class _Enough(Exception):
    """The rest of an answer is not wanted."""

    def __init__(self, reason: StopReason, report: Report | None = None) -> None:
        self.reason, self.report = reason, report


class _PageAnswer:
    """Passes the text of one answer on, up to where it ends or begins to go round in circles."""

    def __init__(self, ends: tuple[str, ...], emit: Callable[[str], None]) -> None:
        self._stop = StopStrings(ends)
        self._loop = Repetition()
        self._emit = emit
        self._after = 0
        self.deltas = 0
        self.said = False

    def take(self, block: OutBlock) -> None:
        if block.type != "text":
            return
        self.deltas += 1
        ended = bool(self._stop.found)
        if ended:
            self._after += len(block.delta)
            if self._after > _AFTERTHOUGHT:
                raise _Enough(StopReason.END_TURN)
            return
        self._say(self._stop.feed(block.delta))
        if self._stop.found == _END:
            self._say(_END)
        if self._loop.feed(block.delta):
            raise _Enough(StopReason.MAX_TOKENS, {"repetition": True})

    def end(self) -> None:
        self._say(self._stop.end())

    def _say(self, text: str) -> None:
        if text:
            self.said = True
            self._emit(text)


def _request(image: Image, prompt: str, max_tokens: int | None) -> Request:
    return Request(
        messages=[Message("user", [image_block("page"), text_block(prompt or PROMPT_PAGE)])],
        attachments=[image_attachment("page", image)],
        max_tokens=min(max_tokens or MAX_TOKENS, MAX_TOKENS),
        temperature=0,
    )
