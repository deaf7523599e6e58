"""Markov chains over bytes, in the file format of grall, a Markov chain program: a library with a compiled kernel.

    chain = train(["books/"], depth=8)         # or load("books.gril")
    chain.save("books.gril")
    generate(chain, 200, seed=b"Once upon ")   # up to 200 bytes

The names below come from this package's modules, each imported when first asked for: a run needs no trainer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmwire.system.lazy import lazy

if TYPE_CHECKING:
    from warmwire.markov.chain import Chain, load, save
    from warmwire.markov.generation import Generation, generate
    from warmwire.markov.merging import merge
    from warmwire.markov.styles import Style
    from warmwire.markov.training import train, train_file

__all__ = [
    "Chain",
    "Generation",
    "Style",
    "generate",
    "load",
    "merge",
    "save",
    "train",
    "train_file",
]

_HOMES = {
    "markov.chain": ("Chain", "load", "save"),
    "markov.generation": ("Generation", "generate"),
    "markov.merging": ("merge",),
    "markov.styles": ("Style",),
    "markov.training": ("train", "train_file"),
}

__getattr__, __dir__ = lazy(__name__, globals(), _HOMES)
