"""The engines of a run, and what is done when one does not answer.

An engine is made when a page first needs it. One whose worker died, whose answer broke off or did not come in time is
asked once more: its worker has been replaced, or its host started again, and what failed may not have been the page's
fault. A host whose queue is full is asked again for a minute; one that is gone is not called for every page.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from warmwire.errors import (
    BackendUnavailableError,
    CancelledError,
    DialError,
    InternalError,
    QueueFullError,
    StreamLostError,
    TimedOutError,
    WarmwireError,
)

if TYPE_CHECKING:
    from warmwire.client import Engine, Recognition
    from warmwire.media.images import Image

BUSY_PAUSES: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Pauses before a page is offered again to a host whose queue is full, seconds."""
TRIES: Final = 2
"""How often a page is given to a model that fails on it, each time to another worker."""

_WORTH_ANOTHER: Final = (BackendUnavailableError, InternalError, StreamLostError, TimedOutError)


class EnginePool:
    """Up to `jobs` engines, each made by `connect`."""

    def __init__(
        self,
        connect: Callable[[], Engine],
        jobs: int,
        tries: int = TRIES,
        busy_pauses: Sequence[float] = BUSY_PAUSES,
    ) -> None:
        self._connect = connect
        self._tries, self._busy_pauses = tries, busy_pauses
        self._jobs = jobs
        self._engines: list[Engine] = []
        self._idle: queue.SimpleQueue[Engine | None] = queue.SimpleQueue()
        self._lost: DialError | None = None
        self._over = threading.Event()

    def begin(self) -> None:
        """Pages may be read again after `close`."""
        self._over.clear()

    def take(self) -> Engine:
        """An engine for one page. Failing to get one at all ends the run: no page can be read.

        Called where an interrupt arrives, the first one may take as long as a model takes to load.
        """
        with contextlib.suppress(queue.Empty):
            engine = self._idle.get(block=len(self._engines) >= self._jobs)
            if engine is None:
                raise CancelledError("the run has ended")
            return engine
        self._engines.append(self._connect())
        return self._engines[-1]

    def give_back(self, engine: Engine) -> None:
        if not self._over.is_set():  # else it is closed
            self._idle.put(engine)

    def ask(self, engine: Engine, image: Image) -> Recognition:
        """Read one picture. Raises what reading it raised the last time."""
        for attempt in range(1, self._tries + 1):
            try:
                return self._ask(engine, image)
            except _WORTH_ANOTHER as error:
                if self._over.is_set():
                    raise
                if attempt == self._tries:
                    raise _named(error, attempt) from None
        raise AssertionError

    def _ask(self, engine: Engine, image: Image) -> Recognition:
        if self._lost is not None:
            raise self._lost
        for pause in (*self._busy_pauses, None):
            if self._over.is_set():
                break
            try:
                return engine.read(image)
            except QueueFullError:
                if pause is None:
                    raise
                self._over.wait(pause)
            except DialError as error:
                self._lost = error
                raise
        raise CancelledError("the run has ended")

    def close(self) -> None:
        """Give the engines back. Whoever is still reading or waiting stops."""
        self._over.set()
        while self._engines:
            self._engines.pop().close()
        self._idle.put(None)  # for who waits for an engine
        self._idle = queue.SimpleQueue()


def _named(error: WarmwireError, tries: int) -> WarmwireError:
    """The error of the last of several tries, which says so."""
    if tries == 1:
        return error
    return type(error)(f"{error} (tried {tries} times)", partial=error.partial)
