"""The loops of the Markov model, in Cython's pure-Python mode.

Its modules are compiled when a C compiler is there and imported as they are when not; both give the same bytes. Every
function works on flat arrays (anything with a buffer) and trusts its caller for their sizes, except `verify`, which
trusts nothing. The theory, once:

*Order.* Contexts are compared from their last byte back. Read as little-endian words from the end, that is plain
integer order: eight bytes at a time, and a training position becomes one sortable number.

*Records.* A model stays as its file's bytes: u8 weights-1, `depth` context bytes, then (u8 byte, u32 count) each.
`index` holds the offset of every eighth record, so that a context is found by bisection and a short scan.

*Graph.* For speed, contexts with a choice become blocks of 64-bit words: a header (total, n), then per choice
(cumulative count, next block) and a run: the byte and up to six more that follow without a choice. A step is one
block, one random number and one eight-byte store. A block with n = 1 continues a long run; block 0 means "look the
context up".

The functions are got from here, and their module is loaded when the first of them is asked for: a run sorts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmwire.system.lazy import lazy

if TYPE_CHECKING:
    from warmwire.markov.kernel.built import COMPILED
    from warmwire.markov.kernel.graph import layout, link
    from warmwire.markov.kernel.records import emit, merge, verify
    from warmwire.markov.kernel.sorting import (
        count_records,
        dedupe,
        histogram,
        locate,
        pairs,
        rank,
        scatter,
        scatter_ranks,
        sort,
        words,
    )
    from warmwire.markov.kernel.walks import walk

__all__ = [
    "COMPILED",
    "count_records",
    "dedupe",
    "emit",
    "histogram",
    "layout",
    "link",
    "locate",
    "merge",
    "pairs",
    "rank",
    "scatter",
    "scatter_ranks",
    "sort",
    "verify",
    "walk",
    "words",
]

_HOMES = {
    "markov.kernel.built": ("COMPILED",),
    "markov.kernel.graph": ("layout", "link"),
    "markov.kernel.records": ("emit", "merge", "verify"),
    "markov.kernel.sorting": (
        "count_records", "dedupe", "histogram", "locate", "pairs", "rank", "scatter", "scatter_ranks", "sort", "words",
    ),
    "markov.kernel.walks": ("walk",),
}  # fmt: skip

__getattr__, __dir__ = lazy(__name__, globals(), _HOMES)
