"""Training on a Ray cluster: tasks sort chunks of text, and other tasks merge the runs, a range of contexts each.

The sorting, the runs and the merging are those of one machine (`warmwire.markov`); Ray only moves them. The driver
reads the text: a byte of it for some bytes of model that come back to it in the end, so to read it elsewhere would save
little and ask for a shared file system. A sample of the first chunk gives the bounds of the ranges. Where a machine
dies, Ray runs the tasks again whose results were lost; for that it keeps the texts, on disk where they do not fit.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from warmwire.cluster.connection import cpus
from warmwire.errors import BackendUnavailableError, InputError, WarmwireError
from warmwire.markov.chain import Piece, write_model
from warmwire.markov.merging import merged
from warmwire.markov.runs import cut
from warmwire.markov.sources import total_size
from warmwire.markov.storage import HEADER_SIZE, Header
from warmwire.markov.training import (
    DEFAULT_MEMORY,
    NO_TEXT,
    Chunk,
    Progress,
    accepted,
    chunk_size,
    read_chunks,
    records,
)

_LEAST_CHUNK: Final = 1 << 20
_TASK_SHARE: Final = 4
"""Of the memory of a task, sorting has a quarter: the run, its cuts and their way to the store need the rest."""
_RANGES: Final = 4
"""Ranges a processor, so that one that has more of the model than others holds up little."""
_MOST_RANGES: Final = 1024
_SAMPLES: Final = 64
"""Contexts looked at for one bound."""


def train_file(
    ray: Any,
    output: str | os.PathLike[str],
    paths: Sequence[str | os.PathLike[str]],
    depth: int,
    *,
    separate: bool = False,
    memory: int = DEFAULT_MEMORY,
    progress: Progress | None = None,
) -> Header:
    """`warmwire.markov.train_file` on a cluster, with the same file as its result; `memory` is for each task.

    Raises UsageError, InputError; BackendUnavailableError where the cluster loses more than it can make again.
    """
    accepted(paths, depth, output, memory)
    return write_model(output, depth, _pieces(ray, output, paths, depth, separate, memory, progress))


def _pieces(
    ray: Any,
    output: str | os.PathLike[str],
    paths: Sequence[str | os.PathLike[str]],
    depth: int,
    separate: bool,
    memory: int,
    progress: Progress | None,
) -> Iterator[Piece]:
    report = progress or (lambda stage, done, total: None)
    files = accepted(paths, depth, output, memory)
    total = total_size(files)
    jobs = cpus(ray)
    memory //= _TASK_SHARE
    room = chunk_size(depth, memory)
    if total is not None:
        room = min(room, max(total // (2 * jobs) + 1, _LEAST_CHUNK))
    chunks = read_chunks(files, depth, room, separate, lambda done: report("reading", done, total))
    try:
        texts, runs = _sorted(ray, chunks, depth, memory, jobs)
        if not runs:
            raise InputError(NO_TEXT)
        report("merging", 0, None)
        merge = ray.remote(merge_range).options(num_cpus=1)
        ranges = deque(zip(*runs, strict=True))
        runs.clear()
        asked = (merge.remote(depth, *ranges.popleft()) for _ in range(len(ranges)))
        for made in _in_turn(asked, jobs + 1):
            yield ray.get(made)
        del texts
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, WarmwireError):
            raise error.cause from None
        raise BackendUnavailableError(f"a task of the cluster failed: {error.cause}") from error
    except ray.exceptions.RayError as error:
        reason = str(error).strip().partition("\n")[0]
        raise BackendUnavailableError(f"the cluster lost a part of the training: {reason}") from error


def _sorted(ray: Any, chunks: Iterator[Chunk], depth: int, memory: int, jobs: int) -> tuple[list[Any], list[list[Any]]]:
    """References to the texts, and to the ranges of the run of each; at most two chunks a processor are under way."""
    texts: list[Any] = []
    runs: list[list[Any]] = []
    bounds: list[bytes] | None = None
    for chunk in chunks:
        if bounds is None:
            bounds = sample(chunk, depth, min(_RANGES * jobs, _MOST_RANGES))
            sort = ray.remote(sort_chunk).options(num_cpus=1, num_returns=len(bounds) + 1)
        texts.append(ray.put(chunk.text[: chunk.size]))
        made = sort.remote(texts[-1], chunk.ranges, depth, memory, bounds)
        runs.append(made if isinstance(made, list) else [made])  # of a single result there is no list
        if len(runs) > 2 * jobs:
            ray.wait([runs[-2 * jobs][0]], fetch_local=False)
    return texts, runs


def _in_turn(asked: Iterable[Any], most: int) -> Iterator[Any]:
    """References to results, in order, of which at most so many are asked for before they are taken."""
    waiting: deque[Any] = deque()
    for reference in asked:
        waiting.append(reference)
        if len(waiting) == most:
            yield waiting.popleft()
    yield from waiting


def sample(chunk: Chunk, depth: int, ranges: int) -> list[bytes]:
    """Contexts, reversed and ascending, that cut the model of a chunk into at most so many ranges of about one size."""
    step = max(1, chunk.positions // (_SAMPLES * ranges))
    borders = zip(chunk.ranges[::2], chunk.ranges[1::2], strict=True)
    places = [at for begin, end in borders for at in range(begin, end, step)]
    contexts = sorted({chunk.text[at - depth : at].tobytes()[::-1] for at in places})
    return [contexts[len(contexts) * i // ranges] for i in range(1, ranges)] if len(contexts) >= ranges else []


def sort_chunk(
    text: NDArray[np.uint8], ranges: list[int], depth: int, memory: int, bounds: list[bytes]
) -> list[NDArray[np.uint8]] | NDArray[np.uint8]:
    """The run of one chunk, cut into ranges: a task."""
    chunk = Chunk(np.array(text), len(text), ranges)  # a copy, since the store's memory cannot be written to
    nodes, parts = 0, [np.zeros(HEADER_SIZE, np.uint8)]
    with ThreadPoolExecutor(1) as pool:
        for more, _, made in records(chunk, depth, pool, 1, memory, lambda stage, done, total: None):
            nodes += more
            parts.append(made)
    run = np.concatenate(parts)
    offsets = cut(run, nodes, depth, bounds)
    cuts = [run[begin:end] for begin, end in pairwise(offsets)]
    return cuts if bounds else cuts[0]


def merge_range(depth: int, *parts: NDArray[np.uint8]) -> Piece:
    """One range of all runs, merged: a task."""
    data = np.concatenate([np.zeros(HEADER_SIZE, np.uint8), *parts])
    ends = (HEADER_SIZE + np.cumsum([len(part) for part in parts])).tolist()
    nodes = weights = 0
    made = [np.zeros(0, np.uint8)]
    for more_nodes, more_weights, piece in merged(data, [HEADER_SIZE, *ends[:-1]], ends, None, depth):
        nodes += more_nodes
        weights += more_weights
        made.append(piece)
    return nodes, weights, np.concatenate(made)
