"""Text for Markov models, made: words of a Zipf vocabulary in which each has favourite followers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

VOCABULARY: Final = 80_000
FOLLOWERS: Final = 6
ENDS: Final = (", ", ".\n", " ")
BLOCK: Final = 100_000
"""Words that are drawn at once."""


def make_text(size: int, path: Path) -> None:
    """Write `size` bytes that look like prose to a Markov chain."""
    ended, weight, followers, drawn = _language()
    rng = np.random.default_rng()
    rng.bit_generator.state = drawn
    with open(path, "wb") as file:
        written, last = 0, 0
        while written < size:
            free = rng.choice(VOCABULARY, BLOCK, p=weight)
            follows, which = rng.random(BLOCK) < 0.4, rng.integers(0, FOLLOWERS, BLOCK)
            mark = rng.random(BLOCK)
            chosen = _chained(free, follows, which, followers, last)
            end = np.where(mark < 0.07, 0, np.where(mark < 0.12, 1, 2))
            data = b"".join([ended[i] for i in (chosen * len(ENDS) + end).tolist()])[: size - written]
            file.write(data)
            written, last = written + len(data), chosen[-1]


@cache
def _language() -> tuple[list[bytes], Any, Any, Any]:
    """Words with each end, how often each comes, what follows it, and the state of the generator that drew them."""
    rng = np.random.default_rng(1)
    onsets = ["", "b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "th", "sh", "br", "st", "tr"]
    syllables = np.array([a + v + e for a in onsets for v in "aeiou" for e in ["", "n", "r", "s", "l"]])
    lengths = np.minimum(1 + rng.poisson(1.2, VOCABULARY), 5)
    words = ["".join(rng.choice(syllables, n)) for n in lengths]
    weight = 1 / np.arange(1, VOCABULARY + 1) ** 0.85
    weight /= weight.sum()
    followers = rng.choice(VOCABULARY, (VOCABULARY, FOLLOWERS), p=weight)
    return [f"{word}{end}".encode() for word in words for end in ENDS], weight, followers, rng.bit_generator.state


def _chained(free: Any, follows: Any, which: Any, followers: Any, last: int) -> Any:
    """The words of a block: free ones, and where one follows, a follower of the word before it.

    All words that are so far from the free one before them are found at once.
    """
    words = np.concatenate([[last], np.where(follows, 0, free)])
    at = np.arange(1, len(words))
    since = at - np.maximum.accumulate(np.where(follows, 0, at))
    for distance in range(1, since.max() + 1):
        here = at[follows & (since == distance)]
        words[here] = followers[words[here - 1], which[here - 1]]
    return words[1:]
