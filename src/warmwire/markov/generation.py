"""One generation: a state, a random sequence, and text drawn from a chain piece by piece.

The chain's own rule is `kernel.walk`; here are the ends a caller can ask for.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

import numpy as np

from warmwire.errors import UsageError
from warmwire.markov import kernel
from warmwire.markov.chain import Chain
from warmwire.markov.styles import Style

PREPARE_FROM: Final = 1 << 17
"""Once a generation has made so many bytes, building the chain's graph pays."""

_WORD_ENDS: Final = np.isin(np.arange(256), np.frombuffer(b' \t\n\v\f\r.,;:!?"()[]{}\0', np.uint8))


def checked_temperature(value: float) -> float:
    """`value`. Raises UsageError unless it is from 0 to 100."""
    if not 0 <= value <= 100:
        raise UsageError(f"temperature {value} is outside 0 to 100")
    return value


class Generation:
    """Text drawn from `chain` after `seed`.

    `limit` is the most bytes in all (None or 0: no limit). `temperature` 1 draws by the counts, less prefers the
    frequent, 0 always takes the most frequent, at most 100. Equal `rng_seed`s give equal text, however it is taken.
    """

    def __init__(
        self,
        chain: Chain,
        seed: str | bytes = b"",
        *,
        limit: int | None = None,
        temperature: float = 1.0,
        style: Style = Style.NEVER,
        rng_seed: int | bytes | None = None,
    ) -> None:
        if limit is not None and limit < 0:
            raise UsageError(f"limit {limit} is negative")
        self.chain: Final = chain
        self.style: Final = Style(style)
        self.remaining: int | None = limit or None
        self._power = -1.0 if checked_temperature(temperature) < 0.001 else 1.0 / temperature
        self._state = np.zeros(8, np.uint64)
        self._state[:4] = random_state(rng_seed)
        self._margin = chain.depth + 8
        self._buffer = np.zeros(self._margin + 64, np.uint8)
        self._start = self._end = self._margin
        self._restart(seed.encode() if isinstance(seed, str) else seed)
        self.stopped = False
        """Whether the style has ended it."""
        self._inside_word = False
        self._made = 0

    @property
    def ended(self) -> bool:
        """Whether `take` has nothing left to give."""
        return self.remaining == 0 or (self._start == self._end and self._exhausted)

    @property
    def _exhausted(self) -> bool:
        return self.stopped or bool(self._state[5])

    def take(self, most: int) -> memoryview:
        """The next bytes: `most` of them, fewer only at the end. Valid until the next call."""
        if self.remaining is not None:
            most = min(most, self.remaining)
        if self._end - self._start < most and not self._exhausted:
            self._produce(most)
        end = min(self._start + most, self._end)
        piece = self._buffer.data[self._start : end]
        self._start = end
        if self.remaining is not None:
            self.remaining -= len(piece)
        return piece

    def restart(self) -> None:
        """Begin again from the empty context, with the random sequence going on: what grall's `infinite` does."""
        self.stopped = self._inside_word = False
        self._restart(b"")

    def _restart(self, seed: bytes) -> None:
        depth = self.chain.depth
        known = np.frombuffer(seed[-depth:], np.uint8)
        self._buffer[self._end - depth : self._end] = 0
        self._buffer[self._end - len(known) : self._end] = known
        self._state[4:6] = 0

    def _produce(self, most: int) -> None:
        """Make at least `most` bytes available after `_start`, or find the end."""
        kept = min(self._start, self._end - self._margin)
        size = self._end - kept
        need = size + most + 8
        fresh = np.zeros(need + need // 4, np.uint8) if need > len(self._buffer) else self._buffer
        fresh[:size] = self._buffer[kept : self._end].copy()
        self._buffer = fresh
        self._start -= kept
        self._end = size
        chain = self.chain
        self._made += most
        graph = chain.prepare() if self._made >= PREPARE_FROM else chain.graph
        end = kernel.walk(
            chain.data.data,
            chain.index.data,
            chain.header.nodes,
            chain.depth,
            (graph.words if graph else _NO_WORDS).data,
            (graph.blocks if graph else _NO_BLOCKS).data,
            self._state.data,
            self._buffer.data,
            self._end,
            self._start + most,
            self._power,
            self.style is Style.NONE,
        )
        self._end = self._cut(self._end, end)

    def _cut(self, begin: int, end: int) -> int:
        """Where the style ends the text that lies in the buffer from `begin` to `end`."""
        if self.style is Style.LINE:
            found = self._buffer[begin:end].tobytes().find(b"\n")
            if found >= 0:
                self.stopped = True
                return begin + found + 1
        elif self.style is Style.WORD:
            edges = _WORD_ENDS[self._buffer[begin:end]]
            if not self._inside_word:
                inside = np.flatnonzero(~edges)
                if not len(inside):
                    return end
                self._inside_word = True
                edges[: inside[0]] = False
            if edges.any():
                self.stopped = True
                return begin + int(edges.argmax())
        return end


def generate(
    chain: Chain,
    limit: int,
    *,
    seed: str | bytes = b"",
    temperature: float = 1.0,
    style: Style = Style.NEVER,
    rng_seed: int | bytes | None = None,
) -> bytes:
    """Up to `limit` bytes of text that may follow `seed`; see `Generation`, which gives them piece by piece."""
    generation = Generation(chain, seed, limit=limit, temperature=temperature, style=style, rng_seed=rng_seed)
    return bytes(generation.take(limit))


_NO_WORDS: Final = np.zeros(1, np.uint64)
_NO_BLOCKS: Final = np.zeros(0, np.uint32)


def random_state(seed: int | bytes | None) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Four words of random state, never all zero: from the system, or the same for the same seed."""
    if seed is None:
        raw = secrets.token_bytes(32)
    else:
        text = seed if isinstance(seed, bytes) else str(seed).encode()
        raw = hashlib.blake2b(text, digest_size=32, person=b"warmwire").digest()
    return np.frombuffer(raw, "<u8").astype(np.uint64) | np.array([1, 0, 0, 0], np.uint64)
