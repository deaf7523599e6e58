"""What a model's counts say of its training text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warmwire.markov.chain import Chain
from warmwire.markov.storage import HEADER_SIZE


class Statistics(NamedTuple):
    """`trained`: bytes learned from; `single`: contexts with one continuation; `widest`: most continuations of one;
    `entropy`: bits of choice per byte, over the training text."""

    trained: int
    single: int
    widest: int
    entropy: float


def measure(chain: Chain) -> Statistics:
    """Sum a model up."""
    sizes = np.fromiter((len(weights) for _, weights in chain.records()), np.int64, chain.header.nodes)
    record = np.repeat(np.arange(chain.header.nodes), sizes)
    # A weight's offset: the records' heads up to its own, and the weights before it.
    at = HEADER_SIZE + (record + 1) * (1 + chain.depth) + 5 * np.arange(chain.header.weights)
    counts = sum(chain.data[at + 1 + k].astype(np.int64) << (8 * k) for k in range(4))
    totals = np.bincount(record, counts)
    trained = float(totals.sum())
    entropy = ((totals * np.log2(totals)).sum() - (counts * np.log2(counts)).sum()) / trained
    return Statistics(int(trained), int((sizes == 1).sum()), int(sizes.max()), abs(float(entropy)))
