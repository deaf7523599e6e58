"""Page engines: the one thing the documents room knows of recognition.

`dial(addr)` reads pages through a host, `Local(handler)` in this process; both give the same text for the same model,
because both end in the same `Handler`.
"""

from __future__ import annotations

import itertools
import os
import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast, runtime_checkable

from warmwire.client.generation.shared import Deadline
from warmwire.client.generation.sync import Client
from warmwire.errors import CancelledError, InternalError, TruncatedError, WarmwireError
from warmwire.media.images import Image, image_attachment
from warmwire.models.interface import Handler, Model, PageModel, Progress
from warmwire.system.closing import Closing
from warmwire.system.timer import if_longer
from warmwire.transport.dial import DIAL_WAIT
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


@dataclass(slots=True)
class Recognition:
    """One page's answer. `report` is what the model said of it: `confidence` (0 to 1) and `turn` (degrees)."""

    text: str
    backend: str = ""
    usage: Usage = field(default_factory=Usage)
    report: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Engine(Protocol):
    """Recognises pages, one at a time."""

    def read(
        self,
        image: Image,
        *,
        prompt: str = PROMPT_PAGE,
        max_tokens: int | None = None,
        on_delta: Callable[[str], None] | None = None,
    ) -> Recognition:
        """Read one page: `image` is (height, width, 3) uint8 RGB, `on_delta` gets the text as it comes.

        Raises WarmwireError with the text so far as `.partial`; TruncatedError when `max_tokens` cut the answer.
        """

    def recognize(
        self,
        image: Image,
        *,
        prompt: str = PROMPT_PAGE,
        max_tokens: int | None = None,
        on_delta: Callable[[str], None] | None = None,
    ) -> str:
        """The text of `read`."""
        return self.read(image, prompt=prompt, max_tokens=max_tokens, on_delta=on_delta).text

    def close(self) -> None:
        """Give the connection or the model back. May be called twice."""


class _Engine(Closing, Engine):
    """What both engines share: a page is a request of one image at temperature 0.

    `progress` hears how many lines of the page under way have been read, and of how many, where the model tells.
    """

    progress: Progress | None = None

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def read(
        self,
        image: Image,
        *,
        prompt: str = PROMPT_PAGE,
        max_tokens: int | None = None,
        on_delta: Callable[[str], None] | None = None,
    ) -> Recognition:
        """Read one page; see `Engine.read`."""
        request = _page_request(f"page-{next(self._numbers)}", image, prompt, max_tokens)
        request.progress = self.progress is not None or None
        page, reason = self._generate(request, on_delta)
        if reason == StopReason.MAX_TOKENS:
            bound = "the model's own bound" if max_tokens is None else f"max_tokens {max_tokens}"
            raise TruncatedError(f"the answer was cut at {bound}", partial=page.text)
        return page

    def _tell(self, block: OutBlock) -> None:
        """Pass on how far a page is, if `block` says so in numbers."""
        if block.type == "progress" and self.progress is not None and block.done is not None and block.total:
            self.progress(block.done, block.total)

    @abstractmethod
    def _generate(self, request: Request, on_delta: Callable[[str], None] | None) -> tuple[Recognition, str | None]:
        """The answer to a request, and the reason why it ended."""


class Local(_Engine):
    """An engine over a handler, or a loaded model that reads pages, in this process: the same pages without a socket.

    A handler's own exception becomes an InternalError, as over the wire. After `timeout` seconds it is told to stop as
    by `cancel`; one that does not listen cannot be stopped in this process.
    """

    def __init__(self, handler: Handler | Model, *, timeout: float | None = None) -> None:
        super().__init__()
        Deadline(timeout)
        self._timeout = timeout
        self._model = cast(Model, handler) if hasattr(handler, "capabilities") else PageModel(handler)
        self._cancelled = threading.Event()
        self._closed = False

    def _generate(self, request: Request, on_delta: Callable[[str], None] | None) -> tuple[Recognition, str | None]:
        parts: list[str] = []
        callers: Exception | None = None  # what the caller's own functions raised; it goes to the caller as it is

        def emit(block: OutBlock) -> None:
            nonlocal callers
            if self._cancelled.is_set():
                raise CancelledError("the page was cancelled")
            try:
                self._tell(block)
                if block.type == "text":
                    parts.append(block.delta)
                    if on_delta is not None:
                        on_delta(block.delta)
            except Exception as error:
                callers = error
                raise

        if self._closed:
            raise CancelledError("the engine is closed")
        self._cancelled.clear()
        deadline = Deadline(self._timeout)
        try:
            with if_longer(self._timeout, self._cancelled.set):
                finish = self._model.generate(request, emit, self._cancelled)
        except WarmwireError as error:
            if isinstance(error, CancelledError) and deadline.passed:
                raise deadline.error("".join(parts)) from None
            error.partial = "".join(parts)
            raise
        except Exception as error:
            if error is callers:
                raise
            raise InternalError(f"{type(error).__name__}: {error}", partial="".join(parts)) from error
        text = "".join(parts)
        if self._cancelled.is_set():
            raise deadline.error(text) if deadline.passed else CancelledError("the page was cancelled", partial=text)
        return Recognition(text, self._model.name, finish.usage, finish.report or {}), finish.stop_reason

    def close(self) -> None:
        """Stop a page under way, and read no more."""
        self._closed = True
        self._cancelled.set()

    def cancel(self) -> None:
        """Give up the page under way in another thread: its `read` raises CancelledError when the handler stops."""
        self._cancelled.set()


class RemoteEngine(_Engine):
    """An engine over a host's socket. One connection, one page at a time; several engines read in parallel.

    A connection that was lost is made again for the next page.
    """

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client

    def _generate(self, request: Request, on_delta: Callable[[str], None] | None) -> tuple[Recognition, str | None]:
        with self._client.generate(request) as stream:
            for block in stream.blocks():
                self._tell(block)
                if block.type == "text" and on_delta is not None:
                    on_delta(block.delta)
        answer = stream.answer
        answer.check()
        return Recognition(answer.text, answer.backend, answer.usage, answer.report), answer.stop_reason

    def cancel(self) -> None:
        """Give up the page under way in another thread: its `read` raises CancelledError."""
        self._client.close()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def dial(
    addr: str | os.PathLike[str] | None = None, *, wait: float = DIAL_WAIT, timeout: float | None = None
) -> RemoteEngine:
    """An engine over the host at `addr`, or at the default address; waits up to `wait` seconds for it to be ready.

    A page that is not there after `timeout` seconds, those in the host's queue included, is cancelled with
    TimedOutError. Raises DialError, or UsageError for a path no socket can have.
    """
    client = Client(addr, wait=wait, timeout=timeout)
    client.connect()
    return RemoteEngine(client)


def _page_request(id: str, image: Image, prompt: str, max_tokens: int | None) -> Request:
    content = [image_block(id)] + ([text_block(prompt)] if prompt else [])
    return Request(
        id=id,
        messages=[Message("user", content)],
        attachments=[image_attachment(id, image)],
        max_tokens=max_tokens,
        temperature=0,
    )
