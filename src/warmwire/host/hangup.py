"""Noticing that a client has gone while its answer is being made.

Nobody reads a connection during an answer: what the client sends ahead must wait, and an end of its sending alone
(a half-close) is no cancel. What cancels is a full close, which the kernel reports as a hang-up. An epoll set with
no events asked for reports exactly that, and being a descriptor itself it sits in the event loop like any other.
Where there is no epoll, a failing write tells, later.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
from collections.abc import Callable


class HangupWatch:
    """Calls back once for each watched descriptor whose peer has closed the connection."""

    def __init__(self) -> None:
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._epoll = select.epoll() if hasattr(select, "epoll") else None
        if self._epoll is not None:
            asyncio.get_running_loop().add_reader(self._epoll.fileno(), self._ready)

    def __len__(self) -> int:
        """How many descriptors are watched."""
        return len(self._callbacks)

    @property
    def can_tell(self) -> bool:
        """Whether this system reports hang-ups."""
        return self._epoll is not None

    def add(self, fd: int, callback: Callable[[], None]) -> None:
        """Watch a connection's descriptor."""
        if self._epoll is not None:
            with contextlib.suppress(OSError):  # no room in the kernel: then a failing write tells
                self._epoll.register(fd, 0)
                self._callbacks[fd] = callback

    def remove(self, fd: int, callback: Callable[[], None]) -> None:
        """Stop watching. A descriptor that has been closed meanwhile, or serves another connection, is left alone."""
        if self._epoll is not None and self._callbacks.get(fd) == callback:
            del self._callbacks[fd]
            with contextlib.suppress(OSError):
                self._epoll.unregister(fd)

    def close(self) -> None:
        """Stop watching altogether."""
        if self._epoll is not None:
            asyncio.get_running_loop().remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = None

    def _ready(self) -> None:
        if self._epoll is None:
            return
        for fd, _ in self._epoll.poll(0):
            callback = self._callbacks.get(fd)
            if callback is not None:
                self.remove(fd, callback)
                callback()
