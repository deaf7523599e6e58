"""What scanned pages are read with, for `warmwire ocr` and `warmwire.Reader` alike.

Without a socket the model runs in worker processes of a private host, for the same reasons a host has them: a page
that crashes it costs that page, its memory is bounded over a thousand pages, and several read at once.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from warmwire.errors import UsageError
from warmwire.models.registry import check_model, page_model
from warmwire.system.cpus import cores, free_memory

if TYPE_CHECKING:
    from warmwire.client import RemoteEngine
    from warmwire.host.daemon import PrivateHost

_MOST_JOBS: Final = 8
"""Workers started unasked; more than that are seldom fed fast enough."""
_WORKER_BYTES: Final = 700 << 20
"""Memory that a worker of the page reader takes on a dense page (docs/performance.md)."""
_MOST_THREADS: Final = 4
"""Threads of one worker: more do not help one page."""


def page_reader(
    model: str, quality: str | None, socket: str | os.PathLike[str] | None, languages: str | None = None
) -> str:
    """What reads scanned pages, in one word: a socket, or a model with how careful it is to be, and in which languages.

    Raises UsageError for what cannot be meant together.
    """
    if socket is not None and model != "pages":
        raise UsageError("--socket reads with the host's model and --model with another; give one of them")
    given = {"quality": quality, "lang": languages}
    options = {name: value for name, value in given.items() if value is not None}
    for name in options if socket is not None or model != "pages" else ():
        raise UsageError(f"--{name} is for reading with pages here; a host has it from serve 'pages?{name}=X'")
    if socket is not None:
        return os.fspath(socket)
    return f"{model}?{urlencode(options, safe='+,/')}" if options else model


class PageEngines:
    """Makes engines, and ends what they run on. Raises UsageError, InputError for a model that reads no pages.

    `page_timeout` is how many seconds a page gets; None leaves that to the host, which may be a private one.
    """

    def __init__(
        self, socket: str | os.PathLike[str] | None, model: str, jobs: int | None, page_timeout: float | None = None
    ) -> None:
        self._page_timeout = page_timeout
        self._socket, self._model = socket, page_model(model)
        check_model(self._model)
        self._lock = threading.Lock()
        self._host: PrivateHost | None = None
        # Another model may take all memory and all cores for itself. Ours has a worker a core; each may use all cores
        # and does when it is alone, at a run's first and last pages: what they share is parted by the system.
        self._ours = self._model.partition("?")[0] == "pages"
        self._threads = min(_MOST_THREADS, cores()) if self._ours else None
        self.jobs = jobs or (
            max(1, min(_MOST_JOBS, cores(), free_memory() // _WORKER_BYTES)) if self._ours and socket is None else 1
        )

    def connect(self) -> RemoteEngine:
        """One more engine, of at most `jobs`. Raises what loading the model or dialling raises."""
        from warmwire.client import dial

        if self._socket is not None:
            return dial(self._socket, timeout=self._page_timeout)
        from warmwire.host.daemon import PrivateHost

        with self._lock:
            if self._host is None:
                self._host = PrivateHost(
                    self._model, workers=self.jobs, threads=self._threads, request_timeout=self._page_timeout
                )
            return dial(self._host.wait())

    def close(self) -> None:
        """Stop the private host, if there is one."""
        if self._host is not None:
            self._host.close()
