"""A loaded model: the bytes of its file, verified, and what makes walking them fast.

Nothing is unpacked into objects. `Chain.prepare` builds the graph described in `kernel`, once, when enough is to be
generated to pay for it; without it a step costs a bisection, with the same result.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warmwire.errors import InputError
from warmwire.markov import kernel
from warmwire.markov.storage import HEADER_SIZE, TRAILER, Header, parse_header, replacing
from warmwire.system.files import write_all

_FAULTS: Final = {
    1: "runs past the end of the file",
    2: "is not in ascending order",
    3: "has bytes that do not ascend",
    4: "has a count of zero",
    5: "has counts that overflow 32 bits together",
    6: "is past the last one: bytes are left over",
}

_BLOCK: Final = 1 << 21
"""A multiple of a disk's own blocks, and little of a model that is worth a bound on memory."""

Piece = tuple[int, int, NDArray[np.uint8]]
"""Some records in order: contexts, weights, and the bytes."""


class Graph(NamedTuple):
    """The prepared form of a model. `blocks` maps a context's number to its block, 0 where it has none."""

    words: NDArray[np.uint64]
    blocks: NDArray[np.uint32]


class _Check:
    """Verifies a model's bytes as they arrive in `data`, and makes its index."""

    def __init__(self, header: Header, data: NDArray[np.uint8], name: str) -> None:
        self.index: Final[NDArray[np.int64]] = np.empty((header.nodes + 7) // 8, np.int64)
        self._header, self._data, self._name = header, data, name
        self._progress = np.array([HEADER_SIZE, 0, 0], np.int64)

    def advance(self, filled: int) -> None:
        """Look at the first `filled` bytes. Raises InputError where they are not sound."""
        header = self._header
        stop = header.file_size - len(TRAILER)
        fault = kernel.verify(
            self._data.data, filled, stop, header.nodes, header.depth, self._progress.data, self.index.data
        )  # fmt: skip
        if fault >= 0:
            raise InputError(f"{self._name}: damaged: context {fault >> 3:,} {_FAULTS[fault & 7]}")
        if filled == header.file_size and self._data[stop:].tobytes() != TRAILER:
            raise InputError(f"{self._name}: damaged: it does not end with {TRAILER.decode()}")


class Chain:
    """A Markov model: `header` counts it, `data` is its file as uint8, `index` every eighth record's offset.

    Safe to share between threads.
    """

    def __init__(
        self, header: Header, data: NDArray[np.uint8], name: str = "model", check: _Check | None = None
    ) -> None:
        """Takes the bytes of a whole file of the header's size. Raises InputError unless all of them are sound."""
        self.header: Final = header
        self.data: Final = data
        self.name: Final = name
        check = check or _Check(header, data, name)
        check.advance(header.file_size)
        self.index: Final = check.index
        self._graph: Graph | None = None
        self._preparing = threading.Lock()

    @property
    def depth(self) -> int:
        """Bytes of context, 1 to 255."""
        return self.header.depth

    @property
    def graph(self) -> Graph | None:
        """What `prepare` built, if it was called."""
        return self._graph

    def prepare(self) -> Graph:
        """Build the graph, once. Costs about as long as generating 300 kB from a model of 10 MB of text."""
        with self._preparing:
            if self._graph is None:
                self._graph = build_graph(self)
        return self._graph

    def records(self) -> Iterator[tuple[bytes, list[tuple[int, int]]]]:
        """Every context with its (byte, count) weights, in file order."""
        view = self.data.data
        offset, depth = HEADER_SIZE, self.depth
        for _ in range(self.header.nodes):
            first = offset + 1 + depth
            end = first + 5 * (view[offset] + 1)
            yield (
                bytes(view[offset + 1 : first]),
                [(view[at], int.from_bytes(view[at + 1 : at + 5], "little")) for at in range(first, end, 5)],
            )
            offset = end

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model; an existing file is replaced only by a complete one. Raises InputError."""
        with replacing(path) as file:
            write_all(file, self.data.data)


def load(path: str | os.PathLike[str], *, block: int = _BLOCK) -> Chain:
    """Read and verify a model file. Raises InputError for anything that is not a sound version 1 model.

    Reads `block` bytes at once and verifies them before it reads on, so that a damaged file costs no more than its
    sound part.
    """
    name = os.fspath(path)
    try:
        if stat.S_ISFIFO(os.stat(path).st_mode):
            raise InputError(f"{name}: a pipe; a model is read from a file")  # which opening would wait for
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            start = file.read(HEADER_SIZE)
            header = parse_header(start, size, name)
            if size > (memory := os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")):
                raise InputError(f"{name}: the model takes {size:,} bytes of memory, this machine has {memory:,}")
            data = np.empty(size, np.uint8)
            data[:HEADER_SIZE] = np.frombuffer(start, np.uint8)
            check = _Check(header, data, name)
            filled = HEADER_SIZE
            while filled < size:
                got = file.readinto(data.data[filled : filled + block])
                if not got:
                    raise InputError(f"{name}: the file became shorter while it was read")
                filled += got
                check.advance(filled)
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from error
    return Chain(header, data, name, check)


def save(chain: Chain, path: str | os.PathLike[str]) -> None:
    """`chain.save(path)`."""
    chain.save(path)


def assemble(depth: int, pieces: Iterable[Piece], name: str) -> Chain:
    """A model in memory of records that come in order."""
    parts = [np.zeros(HEADER_SIZE, np.uint8)]
    nodes = weights = 0
    for more_nodes, more_weights, records in pieces:
        nodes += more_nodes
        weights += more_weights
        parts.append(records)
    header = Header(depth, nodes, weights)
    parts[0] = np.frombuffer(header.pack(), np.uint8)
    return Chain(header, np.concatenate([*parts, np.frombuffer(TRAILER, np.uint8)]), name)


def write_model(output: str | os.PathLike[str], depth: int, pieces: Iterable[Piece]) -> Header:
    """Write records as they come; the counts are filled in at the end."""
    with replacing(output) as file:
        file.seek(HEADER_SIZE)
        nodes = weights = 0
        for more_nodes, more_weights, piece in pieces:
            nodes += more_nodes
            weights += more_weights
            write_all(file, piece.data)
        write_all(file, TRAILER)
        header = Header(depth, nodes, weights)
        file.seek(0)
        write_all(file, header.pack())
    return header


def build_graph(chain: Chain) -> Graph:
    """Link every weight to its successor and lay out the blocks.

    Contexts seen about equally often lie together, the most frequent first: what is walked most shares cache lines.
    """
    header, data = chain.header, chain.data.data
    offsets, hops = np.empty(header.nodes, np.int64), np.empty(header.nodes, np.uint64)
    successors, tiers = np.empty(header.weights, np.uint32), np.empty(header.nodes, np.uint8)
    cursors, ends = np.zeros(256, np.int64), np.zeros(256, np.int64)
    kernel.link(
        data, HEADER_SIZE, header.depth, offsets.data, successors.data, hops.data, tiers.data, cursors.data, ends.data
    )  # fmt: skip
    choices = np.flatnonzero(tiers).astype(np.uint32)
    choices = choices[np.argsort(255 - tiers[choices], kind="stable")]
    sizes = chain.data[offsets[choices]].astype(np.int64)
    room = 1 + int((3 + 2 * sizes).sum()) + 2 * (header.nodes - len(choices))
    if room > 1 << 32:  # more than a block's number can say: such a model is walked without a graph
        return Graph(np.zeros(1, np.uint64), np.zeros(0, np.uint32))
    words = np.empty(room, np.uint64)
    blocks, passed = np.zeros(header.nodes, np.uint32), np.zeros(header.nodes, np.uint8)
    used = kernel.layout(
        data, header.depth, offsets.data, successors.data, hops.data, choices.data,
        blocks.data, passed.data, words.data,
    )  # fmt: skip
    return Graph(words[:used], blocks)
