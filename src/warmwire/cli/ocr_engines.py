"""What `warmwire ocr` reads scanned pages with.

Without `--socket` the page reader runs in worker processes of a private host, for the same reasons a host has them: a
page that crashes it costs that page, its memory is bounded over a thousand pages, and several read at once.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warmwire.client import Engine, Local, dial

if TYPE_CHECKING:
    from warmwire.host.daemon import PrivateHost

_MOST_JOBS: Final = 4
"""Workers started unasked: each holds about a gigabyte."""


class Engines:
    """Makes engines, and ends what they run on."""

    def __init__(self, socket: Path | None, model: str, jobs: int | None) -> None:
        self._socket, self._model = socket, model
        self._lock = threading.Lock()
        self._host: PrivateHost | None = None
        if model != "pages":
            self.jobs = 1  # one model in this process
        elif socket is not None:
            self.jobs = jobs or 1
        else:
            self.jobs = jobs or max(1, min(_MOST_JOBS, (os.cpu_count() or 1) // 2))

    def connect(self) -> Engine:
        """One more engine, of at most `jobs`. Raises what loading the model or dialling raises."""
        if self._socket is not None:
            return dial(self._socket)
        if self._model != "pages":
            from warmwire.models.load import load_page_handler

            return Local(load_page_handler(self._model))
        from warmwire.host.daemon import PrivateHost

        with self._lock:
            if self._host is None:
                self._host = PrivateHost("pages", workers=self.jobs)
            return dial(self._host.wait())

    def close(self) -> None:
        """Stop the private host, if there is one."""
        if self._host is not None:
            self._host.close()
