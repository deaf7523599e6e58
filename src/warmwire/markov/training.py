"""From bytes to a model by sorting.

A position in the text is one number: the context before it and the byte after it, such that numbers sort as the
model's file does (see `kernel`). So training is: number the positions, sort, count neighbours that are equal. A
context of up to eight bytes fits its number. A longer one is replaced by ranks: the rank of its latest 2**k bytes
among all such, and of its earliest, which overlap where the depth is no power of two; ranks of 2**(k+1) bytes come
from pairs of ranks of 2**k, and ranks of eight bytes from sorting them.

Text beyond the memory allowed is taken in chunks; each becomes a small model in a temporary file, and all are merged.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.errors import InputError, UsageError
from warmwire.markov import kernel
from warmwire.markov.chain import Chain, Piece, assemble, write_model
from warmwire.markov.runs import Runs
from warmwire.markov.sources import expand, open_text, read_some, total_size
from warmwire.markov.storage import MAX_DEPTH, Header
from warmwire.system.cpus import cores

Progress = Callable[[str, int, int | None], None]
"""Called with a stage (reading, sorting, merging), what is done of it and how much there is, where known."""

NO_TEXT: Final = "nothing to learn from: the training text is empty"
DEFAULT_MEMORY: Final = 4 << 30
_LEAST_MEMORY: Final = 1 << 20
_SHALLOW: Final = 8
_SHALLOW_COST: Final = 12
_DEEP_COST: Final = 64
"""Bytes of memory per byte of text: the text and its keys, or also words, ranks and a hash table. The worst case, all
keys in one bucket, takes ten of the twelve; otherwise the groups under way have half the memory."""
_GROUPS_SHARE: Final = 2
_LEAST_GROUPS: Final = 4 << 20
"""Bytes that the groups under way have however little memory is allowed: smaller ones would mostly look for keys."""
_MOST_COUNTS: Final = (1 << 32) - 1
_MOST_RANKS: Final = (1 << 28) - 4096
"""Bytes of a chunk, so that counts fit 32 bits and ranks 28."""
_GROUP: Final = 3 << 24
"""Bytes of records that a thread may make at once, however small the text."""
_KEYS: Final = 1 << 25
"""Most keys that a thread may sort at once, likewise."""
_RADIX_FROM: Final = 1 << 10
_RADIX_TO: Final = 1 << 22
_WORTH_SHARING: Final = 1 << 18
_READ: Final = 1 << 24


@dataclass(slots=True)
class Chunk:
    """Text in memory: `text[:size]`, of which the positions in `ranges` (begin, end, begin, ...) are learned from."""

    text: NDArray[np.uint8]
    size: int = 0
    ranges: list[int] = field(default_factory=list)
    last: bool = False

    @property
    def positions(self) -> int:
        return sum(end - begin for begin, end in zip(self.ranges[::2], self.ranges[1::2], strict=True))


def train(
    paths: Sequence[str | os.PathLike[str]],
    depth: int,
    *,
    separate: bool = False,
    memory: int = DEFAULT_MEMORY,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Chain:
    """Learn a model of `depth` (1 to 255) bytes of context from files, directories, .gz files and - (stdin).

    The context runs on from one file into the next unless `separate`. `memory` bounds the working memory in bytes,
    besides the model itself; `jobs` is the number of threads (default: the cores). Raises UsageError, InputError.
    """
    return assemble(depth, _learn(paths, depth, None, separate, memory, jobs, progress), "trained model")


def train_file(
    output: str | os.PathLike[str],
    paths: Sequence[str | os.PathLike[str]],
    depth: int,
    *,
    separate: bool = False,
    memory: int = DEFAULT_MEMORY,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Header:
    """`train` straight into a file, which need not fit in memory. Returns what was written."""
    return write_model(output, depth, _learn(paths, depth, output, separate, memory, jobs, progress))


def _learn(
    paths: Sequence[str | os.PathLike[str]],
    depth: int,
    output: str | os.PathLike[str] | None,
    separate: bool,
    memory: int,
    jobs: int | None,
    progress: Progress | None,
) -> Iterator[Piece]:
    """The records of the model, in order. What can be refused is refused before the first is asked for."""
    files = accepted(paths, depth, output, memory)
    spill = None if output is None else os.path.dirname(os.path.realpath(output))
    return _pieces(files, depth, spill, separate, memory, jobs, progress)


def accepted(
    paths: Sequence[str | os.PathLike[str]], depth: int, output: str | os.PathLike[str] | None, memory: int
) -> list[Path]:
    """The files that `paths` stand for. Raises UsageError, InputError for what cannot be learned from, or not so."""
    if not 1 <= depth <= MAX_DEPTH:
        raise UsageError(f"depth {depth} is outside 1 to {MAX_DEPTH}")
    if memory < _LEAST_MEMORY:
        raise UsageError(f"{memory} bytes of memory are too few; give at least 1M")
    return expand(paths, output)


def _pieces(
    files: Sequence[Path],
    depth: int,
    spill: str | None,
    separate: bool,
    memory: int,
    jobs: int | None,
    progress: Progress | None,
) -> Iterator[Piece]:
    report = progress or (lambda stage, done, total: None)
    total = total_size(files)
    room = chunk_size(depth, memory)
    if total is not None:
        room = min(room, total + (depth + _SHALLOW) * len(files) + 1)
    jobs = jobs or cores()
    with ThreadPoolExecutor(jobs) as pool:
        chunks = read_chunks(files, depth, room, separate, lambda done: report("reading", done, total))
        chunk = next(chunks, None)
        if chunk is None:
            raise InputError(NO_TEXT)
        if chunk.last:
            yield from records(chunk, depth, pool, jobs, memory, report)
            return
        with Runs(depth, memory, spill) as runs:
            for part in chain([chunk], chunks):
                runs.add(records(part, depth, pool, jobs, memory, report))
            del chunk, part  # their text
            report("merging", 0, None)
            yield from runs.merge()


def chunk_size(depth: int, memory: int) -> int:
    """How many bytes of text are sorted at once in so much memory."""
    return min(memory // _SHALLOW_COST, _MOST_COUNTS) if depth <= _SHALLOW else min(memory // _DEEP_COST, _MOST_RANKS)


def read_chunks(
    files: Sequence[Path], depth: int, room: int, separate: bool, report: Callable[[int], None]
) -> Iterator[Chunk]:
    """The text, `room` bytes at a time, in a buffer that is used again: done with a chunk before the next is taken."""
    margin = max(depth, _SHALLOW)
    text = np.empty(margin + room, np.uint8)
    text[:margin] = 0
    view = text.data
    chunk = Chunk(text, margin, [margin, margin])
    done = 0
    for file in files:
        if separate and chunk.ranges[-1] > chunk.ranges[-2]:
            if len(text) - chunk.size <= margin:
                yield chunk
                chunk = Chunk(text, 0, [])
            text[chunk.size : chunk.size + margin] = 0
            chunk.size += margin
            chunk.ranges += [chunk.size, chunk.size]
        elif separate:
            text[chunk.size - margin : chunk.size] = 0
        with open_text(file) as reader:
            while got := read_some(reader, view[chunk.size : chunk.size + _READ], file):
                chunk.size += got
                chunk.ranges[-1] = chunk.size
                done += got
                report(done)
                if chunk.size == len(text):
                    yield chunk
                    text[:margin] = text[-margin:].copy()
                    chunk = Chunk(text, margin, [margin, margin])
    if chunk.positions:
        chunk.last = True
        yield chunk


def records(
    chunk: Chunk, depth: int, pool: ThreadPoolExecutor, jobs: int, memory: int, report: Progress
) -> Iterator[Piece]:
    """The records of one chunk of text, in order, made by `jobs` threads of `pool` in `memory` bytes.

    Neighbouring buckets form groups. A thread that takes a group goes through the text for the group's keys only:
    that is cheaper than to have all keys in memory at once, and needs nobody else.
    """
    total = chunk.positions
    # So many keys that the records of all groups under way, and their keys, stay a fraction of the text's size.
    most = min(max(_GROUP, 8 * total // (jobs + 1)) // (6 + depth), max(_KEYS, total // (4 * jobs)))
    # A thread has keys and room to sort them, and one group more has its records than there are threads.
    most = min(most, max(memory // _GROUPS_SHARE, _LEAST_GROUPS) // (18 * jobs + (6 + depth) * (jobs + 1)))
    sorter = _Sorter(chunk, depth, most)
    groups = -(-total // most)
    if total > _WORTH_SHARING:
        groups = -(-groups // jobs) * jobs
    cuts = np.searchsorted(np.cumsum(sorter.counts), [total * i // groups for i in range(1, groups)]) + 1
    bounds = sorted({0, *cuts.tolist(), len(sorter.counts)})
    done = 0
    waiting: deque[Future[tuple[int, Iterable[Piece]]]] = deque()
    for first, end in pairwise(bounds):
        waiting.append(pool.submit(sorter.group, first, end))
        while len(waiting) > jobs or (waiting and end == bounds[-1]):
            size, pieces = waiting.popleft().result()
            yield from pieces
            done += size
            report("sorting", done, total)


class _Sorter:
    """The keys of a chunk, a group of buckets at a time. `counts` says how many keys each bucket has.

    `most` is how many keys are to become records at once.
    """

    def __init__(self, chunk: Chunk, depth: int, most: int) -> None:
        self._text = chunk.text[: chunk.size]
        self._ranges = np.array(chunk.ranges, np.int64)
        self._depth = depth
        self._most = most
        self.counts = np.zeros(1 << 16, np.int64)
        kernel.histogram(self._text.data, self._ranges.data, depth, self.counts.data)
        self._span, self._ranks, self._places = 0, np.zeros(0, np.uint32), np.zeros(1, np.uint32)
        if depth > _SHALLOW:
            self._span, self._ranks, self._places = _rank(self._text, depth)
        self._spare: list[NDArray[np.uint64]] = []

    def group(self, first: int, end: int) -> tuple[int, Iterable[Piece]]:
        """How many keys there are in the buckets from `first` to `end`, and their records.

        Those of a bucket that alone has too many keys (text of few different bytes) are made as they are taken.
        """
        counts = self.counts[first:end]
        bounds = [0, *np.cumsum(counts).tolist()]
        keys = self._buffer(bounds[-1] + 1)
        # The keys of all other buckets go to the place behind the last.
        cursors, steps = np.full(1 << 16, bounds[-1], np.int64), np.zeros(1 << 16, np.int64)
        cursors[first:end], steps[first:end] = bounds[:-1], 1
        text, ranges, depth = self._text.data, self._ranges.data, self._depth
        if self._span:
            kernel.scatter_ranks(
                text, ranges, self._ranks.data, self._span, depth, cursors.data, steps.data, keys.data
            )  # fmt: skip
        else:
            kernel.scatter(text, ranges, depth, cursors.data, steps.data, keys.data)
        self._sort([keys[bounds[b] : bounds[b + 1]] for b in np.flatnonzero(counts > 1).tolist()])
        pieces = self._records(first, end, bounds, keys)
        return bounds[-1], pieces if bounds[-1] > 2 * self._most else list(pieces)

    def _records(self, first: int, end: int, bounds: list[int], keys: NDArray[np.uint64]) -> Iterator[Piece]:
        """The records of the sorted keys of a group, at most about `most` keys in a piece."""
        for last in range(first >> 8, (end + 255) >> 8):
            begin = bounds[max(last << 8, first) - first]
            stop = bounds[min((last + 1) << 8, end) - first]
            while begin < stop:
                cut = min(begin + self._most, stop)
                # To the end of the context there: a key's low byte is what follows it.
                cut = begin + int(np.searchsorted(keys[begin:stop], keys[cut - 1] | np.uint64(255), "right"))
                yield self._emit(last, keys[begin:cut])
                begin = cut
        self._spare.append(keys)

    def _sort(self, buckets: list[NDArray[np.uint64]]) -> None:
        """Sort each bucket: by its bytes where that is quicker, which is where it is neither small nor huge."""
        scratch = self._buffer(max((len(b) for b in buckets if len(b) <= _RADIX_TO), default=0))
        zeros = np.zeros(2048, np.int64)
        for bucket in buckets:
            if kernel.COMPILED and _RADIX_FROM <= len(bucket) <= _RADIX_TO:
                kernel.sort(bucket.data, scratch.data, zeros.data)
            else:
                bucket.sort()
        self._spare.append(scratch)

    def _emit(self, last: int, keys: NDArray[np.uint64]) -> Piece:
        tally = np.zeros(2, np.int64)
        kernel.count_records(keys.data, tally.data)
        nodes, weights = tally.tolist()
        out = np.empty(nodes * (1 + self._depth) + weights * 5 + 8, np.uint8)
        kernel.emit(keys.data, last, self._depth, self._text.data, self._places.data, self._span, out.data)
        return nodes, weights, out[:-8]

    def _buffer(self, size: int) -> NDArray[np.uint64]:
        """Room for `size` keys, used before if possible: fresh memory costs as much as filling it."""
        while self._spare:
            with contextlib.suppress(IndexError):  # another thread was quicker
                keys = self._spare.pop()
                if len(keys) >= size:
                    return keys
        return np.empty(size + size // 8, np.uint64)


def _rank(text: NDArray[np.uint8], depth: int) -> tuple[int, NDArray[np.uint32], NDArray[np.uint32]]:
    """(span, ranks, places): ranks[i] orders text[i : i + span]; places[r] ends a span of rank r; 2 * span >= depth."""
    span = _SHALLOW
    values = np.empty(len(text) - span, np.uint64)
    kernel.words(text.data, values.data)
    while True:
        unique = np.sort(values)
        unique = unique[: kernel.dedupe(unique.data)]
        bits = (len(unique) * 3 // 2).bit_length()
        ranks, slots = np.empty(len(values), np.uint32), np.zeros(1 << bits, np.uint32)
        kernel.rank(values.data, unique.data, slots.data, bits, ranks.data)
        number = len(unique)
        del values, unique, slots
        if 2 * span >= depth:
            break
        values = np.empty(len(text) - 2 * span, np.uint64)
        kernel.pairs(ranks.data, span, values.data)
        span *= 2
    places = np.empty(number, np.uint32)
    kernel.locate(ranks.data, span, places.data)
    return span, ranks, places
