"""Text for Markov models, made: words of a Zipf vocabulary in which each has favourite followers."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def make_text(size: int, path: Path) -> None:
    """Write `size` bytes that look like prose to a Markov chain."""
    rng = np.random.default_rng(1)
    onsets = ["", "b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "th", "sh", "br", "st", "tr"]
    syllables = [a + v + e for a in onsets for v in "aeiou" for e in ["", "n", "r", "s", "l"]]
    vocabulary = 80_000
    lengths = np.minimum(1 + rng.poisson(1.2, vocabulary), 5)
    words = ["".join(rng.choice(syllables, n)) for n in lengths]
    weight = 1 / np.arange(1, vocabulary + 1) ** 0.85
    weight /= weight.sum()
    followers = rng.choice(vocabulary, (vocabulary, 6), p=weight)
    with open(path, "wb") as file:
        written, word = 0, 0
        while written < size:
            block = 100_000
            free = rng.choice(vocabulary, block, p=weight).tolist()
            follow, which, mark = rng.random(block).tolist(), rng.integers(0, 6, block).tolist(), rng.random(block)
            ends = np.where(mark < 0.07, ", ", np.where(mark < 0.12, ".\n", " ")).tolist()
            parts = []
            for i in range(block):
                word = int(followers[word, which[i]]) if follow[i] < 0.4 else free[i]
                parts += (words[word], ends[i])
            data = "".join(parts).encode()[: size - written]
            file.write(data)
            written += len(data)
