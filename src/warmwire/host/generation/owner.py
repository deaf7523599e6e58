"""What a connection asks of the host that took it in.

Connections know their host by this protocol only, so the host may know every kind of connection.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec

from warmwire.host.generation.runner import Runner
from warmwire.host.hangup import HangupWatch


class Activity(msgspec.Struct):
    """What a host is doing: requests running or waiting, of how many at most; and counts since it started.

    Up to `workers` of the outstanding requests run, the others wait.
    """

    workers: int
    capacity: int
    outstanding: int = 0
    answered: int = 0
    refused: int = 0
    sent: int = 0
    """Messages sent: about one for each delta."""


class Owner(Protocol):
    """A host, as its connections see it."""

    runner: Runner
    hangups: HangupWatch
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
    def request_timeout(self) -> float | None:
        """Seconds that a model gets for a request; None: any number."""

    def accept(self, session: Any) -> bool:
        """Take in a new connection; False for another user's."""

    def forget(self, session: Any) -> None:
        """A connection has ended."""

    def admit(self) -> AbstractContextManager[None]:
        """Hold a place while a request is outstanding. Raises QueueFullError, BackendUnavailableError."""
