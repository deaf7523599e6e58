"""Who makes text when: connections take turns on the loop, and so do the generations of one connection in its turn.

A turn takes about a millisecond: each of a connection's unpaced generations makes an equal share of text, and all of it
leaves in one write. Between turns the loop reads what clients sent, so a ping never waits for more than a turn. A paced
generation is a timer. A connection whose client does not read has no turns until it does.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, Protocol

from warmwire.host.grall.named import Move, NamedGeneration, Waits
from warmwire.wire.grall_limits import TOKEN

TURN: Final = 28 << 10
"""Most bytes a connection sends in a turn, and the kernel is to hold for it: for short names, 8 KiB of text."""

_LEAST_TURN: Final = TURN >> 3
_GROW_AFTER: Final = 32
"""Turns that a client must keep up with before its turns grow again."""

_TURN_GENERATIONS: Final = 64
"""Most generations that share a turn; the others come first in the next."""


class Ring:
    """Gives one queued connection after another its turn, and the loop a chance to do something else in between."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: deque[Schedule] = deque()
        self._scheduled = False

    def __len__(self) -> int:
        return len(self._queue)

    def enqueue(self, schedule: Schedule) -> None:
        """Give `schedule` a turn when those before it have had theirs."""
        self._queue.append(schedule)
        self._call_soon()

    def _call_soon(self) -> None:
        if self._queue and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._scheduled = False
        self._queue.popleft().turn()  # raises nothing: the others wait for it
        self._call_soon()


class TextSink(Protocol):
    """What a schedule asks of its connection."""

    def send(self, frames: bytes, tokens: int) -> None:
        """Send frames with so many tokens in them."""

    def resize(self, size: int) -> None:
        """Let the kernel hold about `size` bytes."""

    def ended(self, named: NamedGeneration) -> None:
        """A generation has come to its end, and the frame that says so has been sent."""

    def failed(self, error: Exception) -> None:
        """Making text has failed, which is a fault of ours. The connection is of no more use."""


class Schedule:
    """The generations of one connection.

    `whole`: a delay holds up all of them. Every generation is in `running`; those that want a turn are in `_eager` too,
    the others have a timer or, where it ran out while the client did not read, are in `_late`. With `whole`, `_napping`
    is the one whose delay holds up the connection, and `_nap` its timer.
    """

    def __init__(self, ring: Ring, outlet: TextSink, *, whole: bool) -> None:
        self._ring = ring
        self._outlet = outlet
        self._whole = whole
        self._loop = asyncio.get_running_loop()
        self.running: dict[bytes, NamedGeneration] = {}
        self.paused = False
        self._eager: deque[NamedGeneration] = deque()
        self._late: list[NamedGeneration] = []
        self._queued = False
        self._size = TURN
        self._kept_up = 0
        self._nap: asyncio.TimerHandle | None = None
        self._napping: NamedGeneration | None = None

    # ------------------------------------------------------------------ what clients ask for

    def add(self, named: NamedGeneration) -> None:
        """Begin a generation."""
        self.running[named.name] = named
        self._start(named)

    def remove(self, name: bytes) -> NamedGeneration | None:
        """End one without a word; None where there is none of that name."""
        if (named := self.running.pop(name, None)) is not None:
            self._withdraw(named)
            named.move(Move.ENDED)
        return named

    def set_delay(self, name: bytes, delay: float) -> None:
        """Change the seconds between the tokens of one, from its latest token on."""
        if (named := self.running.get(name)) is not None:
            self._withdraw(named)
            named.delay = delay
            self._start(named)

    def clear(self) -> list[NamedGeneration]:
        """End all; returns them."""
        ended = list(self.running.values())
        for named in ended:
            named.move(Move.ENDED)
        self._stop_nap()
        self.running.clear()
        self._eager.clear()
        self._late.clear()
        return ended

    # ------------------------------------------------------------------ what the client takes

    def pause(self) -> None:
        """The client does not keep up: nothing until `resume`, and less at a time."""
        self.paused = True
        self._resize(max(self._size // 2, _LEAST_TURN))

    def resume(self) -> None:
        """The client has taken what was sent."""
        self.paused = False
        late, self._late = self._late, []
        for named in late:
            if named.waits is not Waits.LATE:
                continue  # another one has failed, and ended the connection
            if self.paused:  # by what was sent a moment ago
                self._late.append(named)
                continue
            named.move(Move.WITHDRAWN)
            self._send_token(named)
        self._want_turn()

    def turn(self) -> None:
        """Let each generation that waits for it make its share, and send everything at once."""
        self._queued = False
        if self.paused or self._nap is not None or not self._eager:
            return
        try:
            self._take_turn()
        except Exception as error:
            self._outlet.failed(error)
        self._want_turn()

    def _take_turn(self) -> None:
        count, share = self._shares()
        if self._whole and any(named.delay for named in self._eager):
            count, share = 1, TOKEN
            if delay := self._eager[0].delay:
                self._napping = self._eager[0]
                self._nap = self._loop.call_later(delay, self._wake)
        output: list[bytes] = []
        ended: list[NamedGeneration] = []
        tokens = 0
        for _ in range(count):
            named = self._eager.popleft()
            before = named.made
            output.append(named.produce(share))
            tokens += -(-(named.made - before) // TOKEN)
            if named.generation.ended:
                ended.append(named)
            else:
                self._eager.append(named)
        self._kept_up += 1
        self._outlet.send(b"".join(output), tokens)
        if self._kept_up == _GROW_AFTER:
            self._resize(min(self._size * 2, TURN))
        for named in ended:
            self._end(named)

    def _shares(self) -> tuple[int, int]:
        """How many generations take part in this turn, and the bytes of text for each."""
        count = width = 0
        for named in self._eager:
            if count == _TURN_GENERATIONS or (count and width + named.width > self._size):
                break
            count += 1
            width += named.width
        return count, max(self._size // width, 1) * TOKEN

    def _resize(self, size: int) -> None:
        """Send turns of `size` bytes from now on."""
        self._kept_up = 0
        if size != self._size:
            self._size = size
            self._outlet.resize(size)

    def _want_turn(self) -> None:
        if self._eager and not self._queued and not self.paused and self._nap is None:
            self._queued = True
            self._ring.enqueue(self)

    # ------------------------------------------------------------------ where a generation waits

    def _start(self, named: NamedGeneration) -> None:
        """Queue a generation for turns, or set its timer: a delay after its latest token, at once for the first."""
        if self._whole or not named.delay:
            named.move(Move.QUEUED)
            self._eager.append(named)
            self._want_turn()
        else:
            named.move(Move.TIMER_SET)
            due = max(self._loop.time(), named.last + named.delay)
            named.timer = self._loop.call_at(due, self._due, named)

    def _withdraw(self, named: NamedGeneration) -> None:
        """Take a generation out of wherever it waits."""
        if named.waits is Waits.EAGER:
            self._eager.remove(named)
        elif named.waits is Waits.LATE:
            self._late.remove(named)
        named.move(Move.WITHDRAWN)
        if named is self._napping:
            self._wake()

    def _due(self, named: NamedGeneration) -> None:
        """The delay of a paced generation has run out."""
        if self.paused:
            named.move(Move.HELD)
            self._late.append(named)
        else:
            named.move(Move.WITHDRAWN)
            self._send_token(named)

    def _send_token(self, named: NamedGeneration) -> None:
        now = self._loop.time()
        due = named.last + named.delay
        # Keep the beat, but do not make up for time in which the client did not read.
        named.last = due if now - due < named.delay else now
        try:
            frames = named.produce(TOKEN)
        except Exception as error:
            self._outlet.failed(error)
            return
        if not named.generation.ended:
            self._start(named)
        self._outlet.send(frames, 1)
        if named.generation.ended:
            self._end(named)

    def _end(self, named: NamedGeneration) -> None:
        if self.running.get(named.name) is named:  # sending may have ended the connection, and with it all
            del self.running[named.name]
            named.move(Move.ENDED)
            self._outlet.ended(named)

    def _wake(self) -> None:
        self._stop_nap()
        self._want_turn()

    def _stop_nap(self) -> None:
        if self._nap is not None:
            self._nap.cancel()
            self._nap = self._napping = None
