"""What a connection asks of the host that took it in.

Connections know their host by this protocol only, so the host may know every kind of connection.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from warmwire.host.base import Activity
from warmwire.host.generation.runner import Runner
from warmwire.host.hangup import HangupWatch


class Owner(Protocol):
    """A host, as its connections see it."""

    runner: Runner
    activity: Activity
    draining: bool
    partial: int
    """Bytes of requests that have arrived in part."""
    max_partial: int
    """The most of them, over all connections."""
    read_timeout: float
    """Seconds from the first byte of a request to its last; 0: any number."""
    write_timeout: float
    """Seconds that a client may leave its answer unread; 0: any number."""

    @property
    def hangups(self) -> HangupWatch:
        """Tells of clients that have gone."""

    @property
    def request_timeout(self) -> float | None:
        """Seconds that a model gets for a request; None: any number."""

    def accept(self, connection: Any) -> bool:
        """Take in a new connection; False for another user's."""

    def forget(self, connection: Any) -> None:
        """A connection has ended."""

    def admit(self) -> AbstractContextManager[None]:
        """Hold a place while a request is outstanding. Raises QueueFullError, BackendUnavailableError."""
