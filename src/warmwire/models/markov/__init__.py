"""Markov chains over bytes, in grall's file format.

chain = train(["books/"], depth=8)         # or load("books.gril")
chain.save("books.gril")
generate(chain, 200, seed=b"Once upon ")   # up to 200 bytes
"""

from __future__ import annotations

from warmwire.models.markov.chain import Chain, load
from warmwire.models.markov.generation import Generation, Style
from warmwire.models.markov.merging import merge
from warmwire.models.markov.training import train, train_file

__all__ = ["Chain", "Generation", "Style", "generate", "load", "merge", "save", "train", "train_file"]


def save(chain: Chain, path: str) -> None:
    """Write a model; an existing file is replaced only by a complete one. Raises InputError."""
    chain.save(path)


def generate(
    chain: Chain,
    limit: int,
    *,
    seed: bytes = b"",
    temperature: float = 1.0,
    style: Style = Style.NEVER,
    rng_seed: int | bytes | None = None,
) -> bytes:
    """Up to `limit` bytes of text that may follow `seed`; see `Generation`, which gives them piece by piece."""
    generation = Generation(chain, seed, limit=limit, temperature=temperature, style=style, rng_seed=rng_seed)
    return bytes(generation.take(limit))
