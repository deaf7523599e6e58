"""Merging models: the counts of each are multiplied by its weight and added, context by context.

A merged model draws as a model would that was trained on all the texts at once, each as often as its weight says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.errors import UsageError
from warmwire.markov import kernel
from warmwire.markov.chain import Chain, Piece, assemble, load
from warmwire.markov.storage import HEADER_SIZE, TRAILER

_OUT: Final = 4 << 20


def merged(
    data: NDArray[np.uint8],
    begins: Sequence[int],
    ends: Sequence[int],
    scales: Sequence[float] | None,
    depth: int,
    room: int = _OUT,
) -> Iterator[Piece]:
    """Merge verified runs of records that lie in `data`; gives contexts, weights and their records, piece by piece.

    A piece is at most `room` bytes, which are more than a record of 256 weights takes. The records of a run begin 8
    bytes behind the start of `data` or later.

    The counts of each run are multiplied by its scale, if there are scales, and stay at least 1.
    A context whose counts would overflow 32 bits together has them halved until they fit.
    """
    cursors, stops = np.array(begins, np.int64).data, np.array(ends, np.int64).data
    factors = np.ones(len(begins)) if scales is None else np.array(scales, np.float64)
    heap, sums = np.empty(len(begins), np.int64), np.zeros(256, np.uint64)
    out = np.empty(room, np.uint8)
    while True:
        tally = np.zeros(2, np.int64)
        size = kernel.merge(
            data.data, cursors, stops, factors.data, depth, heap.data, sums.data, out.data, tally.data
        )  # fmt: skip
        if not size:
            return
        yield int(tally[0]), int(tally[1]), out[:size].copy()


def merge(chains: Sequence[Chain], weights: Sequence[float] | None = None) -> Chain:
    """One model of several of equal depth. `weights` (default: all 1) must be above 0. Raises UsageError."""
    if not chains:
        raise UsageError("nothing to merge: give at least one model")
    scales = list(weights) if weights is not None else [1.0] * len(chains)
    if len(scales) != len(chains):
        raise UsageError(f"{len(scales)} weights for {len(chains)} models; give one for each")
    if not all(0 < scale <= 1e6 for scale in scales):
        raise UsageError(f"weights must be above 0 and at most a million: {', '.join(f'{s:g}' for s in scales)}")
    depth = chains[0].depth
    for other in chains[1:]:
        if other.depth != depth:
            raise UsageError(
                f"models of different depth cannot be merged: {chains[0].name} has {depth}, {other.name} {other.depth}"
            )
    data = np.concatenate([chain.data for chain in chains])
    stops = np.cumsum([len(chain.data) for chain in chains]).tolist()
    begins = [stop - len(chain.data) + HEADER_SIZE for stop, chain in zip(stops, chains, strict=True)]
    pieces = merged(data, begins, [stop - len(TRAILER) for stop in stops], scales, depth)
    return assemble(depth, pieces, "merged model")


def merge_files(paths: Sequence[str | os.PathLike[str]], weights: Sequence[float] | None = None) -> Chain:
    """`merge` of model files. Raises UsageError, InputError."""
    return merge([load(path) for path in paths], weights)
