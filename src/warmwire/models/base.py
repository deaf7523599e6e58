"""What a host can hold.

A `Handler` reads one page: it gets pixels and a prompt and emits text. A `Model` answers any request of the
generation wire. `PageModel` makes a model of a handler, so that a host knows models alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warmwire.wire.messages import OutBlock, Request, StopReason, Usage

Image = NDArray[np.uint8]
"""Pixels: shape (height, width, 3), uint8, RGB."""

Report = Mapping[str, Any]
"""What a model says about its own answer besides the text: JSON-ready, sent as `report` on the done frame."""


class Handler(Protocol):
    """Reads one page at a time. Called from one thread; never twice at once on one connection."""

    @property
    def name(self) -> str:
        """The backend named on the done frame. For people only."""

    def generate(
        self,
        image: Image,
        prompt: str,
        max_tokens: int | None,
        emit: Callable[[str], None],
        cancelled: threading.Event,
    ) -> Report | None:
        """Emit the answer piece by piece, in order, from the calling thread.

        Text emitted before an exception still reaches the client. Return early once `cancelled` is set.
        """


@dataclass(slots=True)
class Finish:
    """How an answer ended."""

    stop_reason: StopReason = StopReason.END_TURN
    usage: Usage = field(default_factory=Usage)
    report: Report | None = None


class Model(Protocol):
    """Answers requests of the generation wire."""

    @property
    def name(self) -> str:
        """The backend named on the done frame. For people only."""

    def check(self, request: Request) -> None:
        """Raise `RequestError` for what this model cannot answer, before a worker is spent on it.

        The attachments' bytes may not be looked at.
        """

    def generate(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        """Emit the answer's blocks in order, from the calling thread; return early once `cancelled` is set."""
