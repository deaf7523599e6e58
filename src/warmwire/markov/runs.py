"""Sorted runs of records on disk, merged in bounded memory: what external sorting needs besides the sorting.

A run is the records of one chunk of text, in order. Runs lie one behind the other in a file without a name, which
goes when it is closed or its process ends, however that is. They are merged as a mapping of that file, of which what
has been read is let go. The memory this takes grows with the number of runs, since each holds the pages around the
place where it is read; so too many runs are first merged to fewer, in as many passes over all of them as that needs.
"""

from __future__ import annotations

import mmap
import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.errors import InputError
from warmwire.markov import kernel
from warmwire.markov.chain import Piece
from warmwire.markov.merging import merged
from warmwire.markov.storage import HEADER_SIZE
from warmwire.system.closing import Closing
from warmwire.system.files import write_all

_RUN_COST: Final = 256 << 10
"""Bytes of memory for a run that is merged: the system maps 64 KiB around what is read, and lets go of it late."""
_LEAST_RUNS: Final = 16
_LEAST_OUT: Final = 64 << 10
_MOST_OUT: Final = 4 << 20


class Runs(Closing):
    """Runs in a temporary file in `directory`, None for the system's own; merging them takes about `memory` bytes.

    Raises InputError where the file cannot be written.
    """

    def __init__(self, depth: int, memory: int, directory: str | None = None) -> None:
        self._depth, self._memory, self._directory = depth, memory, directory
        try:
            self._file = tempfile.TemporaryFile(dir=directory, buffering=0)  # noqa: SIM115 - closed by `close`
            self._file.seek(HEADER_SIZE)  # the kernel may read some bytes before the first record
        except OSError as error:
            raise _unwritable(error) from error
        self._bounds = [HEADER_SIZE]

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def add(self, pieces: Iterable[Piece]) -> None:
        """One more run, of records in order. Raises InputError."""
        for _, _, records in pieces:
            try:
                write_all(self._file, records.data)
            except OSError as error:
                raise _unwritable(error) from error
        self._bounds.append(self._file.tell())

    def merge(self) -> Iterator[Piece]:
        """The records of all runs, in order, counts of one context added; the runs are gone afterwards."""
        most = max(_LEAST_RUNS, self._memory // _RUN_COST)
        while len(self) > most:
            with Runs(self._depth, self._memory, self._directory) as fewer:
                for first in range(0, len(self), most):
                    fewer.add(self._merge(first, min(first + most, len(self))))
                self._file, fewer._file = fewer._file, self._file
                self._bounds = fewer._bounds
        yield from self._merge(0, len(self))

    def _merge(self, first: int, end: int) -> Iterator[Piece]:
        begins, ends = self._bounds[first:end], self._bounds[first + 1 : end + 1]
        # Where all runs have the same contexts, a piece takes as many times its size of them as there are runs.
        room = min(max(self._memory // (4 * len(begins)), _LEAST_OUT), _MOST_OUT)
        mapped = mmap.mmap(self._file.fileno(), 0)
        for piece in merged(np.frombuffer(mapped, np.uint8), begins, ends, None, self._depth, room):
            yield piece
            if hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)  # what has been read need not stay in memory

    def close(self) -> None:
        self._file.close()


def cut(run: NDArray[np.uint8], nodes: int, depth: int, bounds: Sequence[bytes]) -> list[int]:
    """Where the ranges of a run begin that contexts, ascending and reversed as they are compared, begin; and its end.

    `run` is HEADER_SIZE bytes of anything and then the records of `nodes` contexts, which are checked. Runs that are
    cut at the same bounds can be merged range by range. Raises InputError for records that are not sound.
    """
    index, progress = np.empty((nodes + 7) // 8, np.int64), np.array([HEADER_SIZE, 0, 0], np.int64)
    if kernel.verify(run.data, len(run), len(run), nodes, depth, progress.data, index.data) >= 0:
        raise InputError("a run of sorted text is damaged")
    view = run.data

    def context(at: int) -> bytes:
        return bytes(view[at + 1 : at + 1 + depth])[::-1]

    offsets = [HEADER_SIZE]
    for bound in bounds:
        known = bisect_left(index, bound, key=context)  # every eighth context is in the index
        at = int(index[known - 1]) if known else HEADER_SIZE
        while at < len(run) and context(at) < bound:
            at += 1 + depth + 5 * (view[at] + 1)
        offsets.append(at)
    return [*offsets, len(run)]


def _unwritable(error: OSError) -> InputError:
    return InputError(f"cannot write a temporary file: {error.strerror or error}")
