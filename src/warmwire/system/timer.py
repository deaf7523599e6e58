"""What is to happen when something takes too long."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def if_longer(seconds: float | None, action: Callable[[], object]) -> Iterator[None]:
    """Do something, once and on another thread, if the block takes longer than that; None is as long as it likes."""
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
