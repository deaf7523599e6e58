"""One named generation of a grall connection, and where it waits for its next token.

IDLE ──QUEUED────▶ EAGER    for turns: it has no delay, or all delays are its connection's
IDLE ──TIMER_SET─▶ TIMED    its delay runs; if that runs out while the client does not read: HELD ─▶ LATE
EAGER, TIMED, LATE ──WITHDRAWN─▶ IDLE    to make a token, or to wait elsewhere
any ──ENDED─▶ ENDED         by itself, by its client, or with the connection
"""

from __future__ import annotations

import asyncio
import time
from enum import Enum, auto
from typing import Final

from warmwire.host.states import Table, after
from warmwire.markov import Generation
from warmwire.wire.grall import encode_end, encode_tokens
from warmwire.wire.grall_limits import TOKEN


class Waits(Enum):
    """Where a generation waits."""

    IDLE = auto()
    """Nowhere: it is new, or about to wait elsewhere."""
    EAGER = auto()
    TIMED = auto()
    LATE = auto()
    ENDED = auto()


class Move(Enum):
    """What takes it from one place to another."""

    QUEUED = auto()
    TIMER_SET = auto()
    HELD = auto()
    WITHDRAWN = auto()
    ENDED = auto()


NAMED: Final[Table[Waits, Move]] = {
    Waits.IDLE: {
        Move.QUEUED: Waits.EAGER,
        Move.TIMER_SET: Waits.TIMED,
        Move.ENDED: Waits.ENDED,
    },
    Waits.EAGER: {Move.WITHDRAWN: Waits.IDLE, Move.ENDED: Waits.ENDED},
    Waits.TIMED: {Move.WITHDRAWN: Waits.IDLE, Move.HELD: Waits.LATE, Move.ENDED: Waits.ENDED},
    Waits.LATE: {Move.WITHDRAWN: Waits.IDLE, Move.ENDED: Waits.ENDED},
    Waits.ENDED: {},
}


class NamedGeneration:
    """`width` is the size of its frames, `last` when it sent its latest token, in loop time; `delay` is in seconds.

    `finite` says that it ends by itself sooner or later.
    """

    __slots__ = ("began", "delay", "finite", "generation", "last", "made", "name", "timer", "waits", "width")

    def __init__(self, name: bytes, generation: Generation, delay: float, *, finite: bool) -> None:
        self.name = name
        self.generation = generation
        self.delay = delay
        self.finite = finite
        self.width = len(encode_tokens(name, bytes(TOKEN)))
        self.last = float("-inf")
        self.timer: asyncio.TimerHandle | None = None
        self.waits = Waits.IDLE
        self.began = time.monotonic()
        self.made = 0
        """Bytes of text so far."""

    def move(self, move: Move) -> None:
        """Wait elsewhere. A timer that runs is stopped."""
        self.waits = after(NAMED, self.waits, move)
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def produce(self, most: int) -> bytes:
        """Frames for the next `most` bytes, with the end frame if this was the end."""
        text = self.generation.take(most)
        self.made += len(text)
        frames = encode_tokens(self.name, text)
        return frames + encode_end(self.name) if self.generation.ended else frames
