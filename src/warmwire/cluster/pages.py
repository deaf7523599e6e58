"""Pages read by actors of a Ray cluster: an engine provider like `warmwire.engines`, for more than one machine.

Each actor is a process that holds the page model, loaded once. An engine takes whichever actor is free, so that fewer
actors than engines, after a machine was lost, are slower and nothing else. An actor that dies or takes too long is
replaced, wherever there is room; its page has failed with an error for which whoever reads the document gives it to
another one. As many pages are under way as there are engines, which bounds the pictures in Ray's object store.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, Final

from warmwire import __version__
from warmwire.client import Engine, Recognition
from warmwire.cluster.connection import cpus
from warmwire.errors import BackendUnavailableError, CancelledError, TimedOutError, WarmwireError, sendable
from warmwire.host.defaults import PAGE_TIMEOUT
from warmwire.media.images import Image
from warmwire.models.interface import Progress
from warmwire.models.registry import check_model, page_model
from warmwire.system.closing import Closing
from warmwire.wire.generation.messages import PROMPT_PAGE

_MOST_DEATHS: Final = 3
"""Actors that may die in a row while they load, beside one for each job: a machine that is lost takes several."""
_START_TIMEOUT: Final = 600.0
"""Seconds for the first actor to be there: a cluster that grows on demand starts a machine for it."""


class PageActor:
    """What runs in an actor's process. Its methods return what goes wrong: Ray ends a process that raises an exception
    whose text is no UTF-8, as a page's may be."""

    def load(self, model: str, threads: int, version: str) -> WarmwireError | None:
        """Load the model; None where that went well. Another version of warmwire is refused: its pages may differ."""
        from warmwire.client import Local
        from warmwire.errors import InputError
        from warmwire.models.registry import load_model

        if version != __version__:
            return InputError(f"a machine of the cluster has warmwire {__version__}, this one {version}; use the same")
        try:
            self._engine = Local(load_model(model, threads))
        except WarmwireError as error:
            return _bare(error)
        return None

    def read(self, image: Image, prompt: str, max_tokens: int | None) -> Recognition | WarmwireError:
        """One page, or why it could not be read."""
        import msgspec
        import numpy as np

        try:
            # The object store's memory is read-only, and models may draw on what they are given.
            page = self._engine.read(np.array(image), prompt=prompt, max_tokens=max_tokens)
        except WarmwireError as error:
            return _bare(error)
        page.report = msgspec.json.decode(msgspec.json.encode(page.report))  # as a socket would bring it
        return page


def _bare(error: WarmwireError) -> WarmwireError:
    """An exception fit to travel: without what led to it, which may be of classes that are not known elsewhere."""
    error.args = (sendable(str(error)),)
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


class RayEngines(Closing):
    """Makes engines over the actors of a cluster. Raises UsageError, InputError for a model that reads no pages.

    `jobs` is the number of actors (None: one for each processor for `pages`, for another model one for each machine);
    `page_timeout` seconds are what a page gets (None: 120).
    """

    def __init__(self, ray: Any, model: str, jobs: int | None = None, page_timeout: float | None = None) -> None:
        self._ray, self._model = ray, page_model(model)
        check_model(self._model)
        self.timeout: Final = page_timeout or PAGE_TIMEOUT
        if self._model.partition("?")[0] == "pages":
            self._threads, self.jobs = 1, jobs or cpus(ray)
        else:
            nodes = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
            nodes = [count for count in nodes if count]
            self._threads, self.jobs = min(nodes, default=1), jobs or max(1, len(nodes))
        self._actor = ray.remote(PageActor).options(num_cpus=self._threads)
        self._idle: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._actors: set[Any] = set()
        self._starting: list[threading.Thread] = []
        self._deaths = 0
        self._fault: WarmwireError | None = None
        self._loaded = False

    def connect(self) -> RayEngine:
        """One more engine. The first waits for an actor. Raises what loading the model raises there."""
        with self._lock:
            first = not self._actors
            if first:
                self._fault, self._loaded, self._idle = None, False, queue.SimpleQueue()
        if first:
            for _ in range(self.jobs):
                self._start()
            self.give_back(self.take(_START_TIMEOUT))
            self._loaded = True
        return RayEngine(self)

    def take(self, timeout: float | None = None) -> Any:
        """An actor that is free and has the model. Raises WarmwireError where none can be had."""
        try:
            actor = self._idle.get(timeout=timeout)
        except queue.Empty:
            raise BackendUnavailableError(
                f"no machine of the cluster had a reader ready within {timeout:g} s; `ray status` shows what is free"
            ) from None
        if actor is None:
            self._idle.put(None)  # for whoever else waits
            raise self._fault or CancelledError("the run has ended")
        return actor

    def give_back(self, actor: Any) -> None:
        """An actor is free again."""
        self._idle.put(actor)

    def answer(self, actor: Any, image: Image, prompt: str, max_tokens: int | None) -> Recognition:
        """What an actor says of a page; it is free afterwards, or replaced. Raises WarmwireError."""
        errors = self._ray.exceptions
        try:
            said: Recognition | WarmwireError = self._ray.get(
                actor.read.remote(image, prompt, max_tokens), timeout=self.timeout
            )
        except errors.GetTimeoutError:
            self._replace(actor)
            raise TimedOutError(f"the page was not read within {self.timeout:g} s; its reader was ended") from None
        except errors.RayError as error:
            self._replace(actor)
            raise BackendUnavailableError(f"the reader of this page was lost ({_line(error)})") from None
        except BaseException:
            self._replace(actor)
            raise
        self.give_back(actor)
        if isinstance(said, WarmwireError):
            raise said
        return said

    def close(self) -> None:
        """End the actors. Whoever waits for one stops."""
        with self._lock:
            self._fault = self._fault or CancelledError("the run has ended")
            actors, self._actors = self._actors, set()
            starting, self._starting = self._starting, []
        self._idle.put(None)
        for actor in actors:
            self._ray.kill(actor)
        for thread in starting:  # those of a cluster that is left must not be in the middle of a call
            thread.join()

    def _start(self) -> None:
        """One more actor, which is idle once it has loaded."""
        with self._lock:
            if self._fault is not None:
                return
            actor = self._actor.remote()
            self._actors.add(actor)
            thread = threading.Thread(target=self._load, args=(actor,), name="warmwire-load", daemon=True)
            self._starting = [*(other for other in self._starting if other.is_alive()), thread]
            thread.start()

    def _load(self, actor: Any) -> None:
        errors = self._ray.exceptions
        try:
            fault = self._ray.get(actor.load.remote(self._model, self._threads, __version__))
        except errors.RayError as error:
            self._deaths += 1
            if self._deaths < _MOST_DEATHS + self.jobs:
                self._replace(actor)
            else:
                self._end_with(BackendUnavailableError(f"readers die while they load the model ({_line(error)})"))
        else:
            self._deaths = 0
            if fault is None:
                self.give_back(actor)
            else:  # it would not load elsewhere either
                self._forgo(actor, fault)

    def _forgo(self, actor: Any, fault: WarmwireError) -> None:
        """Do without an actor, as long as there are others that have the model."""
        with self._lock:
            self._actors.discard(actor)
            rest = self._loaded and self._actors
        if not rest:
            self._end_with(fault)

    def _end_with(self, fault: WarmwireError) -> None:
        """Nobody can have an actor any more, and hears why."""
        self._fault = self._fault or fault
        self._idle.put(None)

    def _replace(self, actor: Any) -> None:
        with self._lock:
            known = actor in self._actors
            self._actors.discard(actor)
        if known:  # else it was ended with all others
            self._ray.kill(actor)
            self._start()


class RayEngine(Closing, Engine):
    """One page at a time by whichever actor is free. `progress` is never called: an answer comes as a whole."""

    progress: Progress | None = None

    def __init__(self, engines: RayEngines) -> None:
        self._engines = engines

    def read(
        self,
        image: Image,
        *,
        prompt: str = PROMPT_PAGE,
        max_tokens: int | None = None,
        on_delta: Callable[[str], None] | None = None,
    ) -> Recognition:
        """Read one page; see `Engine.read`. `on_delta` gets the text when it is whole."""
        page = self._engines.answer(self._engines.take(), image, prompt, max_tokens)
        if on_delta is not None:
            on_delta(page.text)
        return page

    def close(self) -> None:
        """Stop all engines of the cluster: pages under way are lost with their actors."""
        self._engines.close()


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
