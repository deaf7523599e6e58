"""An engine that gives a page up when it takes too long, so that one page cannot hold up a run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from warmwire.client import PROMPT_PAGE, CancelledError, Engine, Recognition, WarmwireError
from warmwire.documents.source import Image


class Cancellable(Engine, Protocol):
    """An engine whose page under way can be given up from another thread."""

    def cancel(self) -> None:
        """Let the `read` under way raise CancelledError."""


class TimedEngine(Engine):
    """`engine` with at most `seconds` for each page, waiting at a busy host included."""

    def __init__(self, engine: Cancellable, seconds: float) -> None:
        self._engine = engine
        self._seconds = seconds

    def read(
        self,
        image: Image,
        *,
        prompt: str = PROMPT_PAGE,
        max_tokens: int | None = None,
        on_delta: Callable[[str], None] | None = None,
    ) -> Recognition:
        """Read one page; raises as the engine does, and WarmwireError with the text so far when time is up."""
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._engine.cancel()

        timer = threading.Timer(self._seconds, give_up)
        timer.daemon = True
        timer.start()
        try:
            return self._engine.read(image, prompt=prompt, max_tokens=max_tokens, on_delta=on_delta)
        except CancelledError as error:
            if not late.is_set():
                raise
            raise WarmwireError(f"the page took longer than {self._seconds:g} s", partial=error.partial) from None
        finally:
            timer.cancel()

    def cancel(self) -> None:
        """Give the page under way up, as the engine does."""
        self._engine.cancel()

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()
