"""What the wire costs: a page from client to handler, and deltas from handler to client.

    python benchmarks/transfer.py [--runs 30] [--deltas 400000] [--json]

The limit of a page's transfer is the kernel's copy: the same bytes through a bare socketpair, `sendall` into
`recv_into` of a buffer that is already there, in the same run and in turn with ours. Ours is a whole request: page,
header, handler called with the array, one delta, done. The host is a process of its own, as it is in use. Cold is a
page of which nothing is in the processor's caches.

Deltas stand beside a process that writes the same bytes to a socket, one write a delta, as a simple server would, or
all at once, which is the limit; who reads only counts. Those read by a client become text there.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import socket
import struct
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import warmwire
from benchmarks.rows import Budget, Rows, in_turn, paired, timed
from benchmarks.table import show
from warmwire.client import Message, Request, image_block, text_block
from warmwire.media.images import image_attachment
from warmwire.wire.generation.request import encode_request

GROUP: Final = "transfer"
PAGE: Final = (2200, 1700, 3)
CACHES: Final = 256 << 20
"""Bytes; more than any cache holds."""
DELTA: Final = "123456789 "
ASKED: Final = struct.Struct("QQ")
"""Bytes, and in how many writes."""


class Handler:
    """Emits one delta for a page, or as many ten-byte deltas as the prompt says."""

    name = "bench"

    def generate(
        self,
        image: np.ndarray[Any, Any],
        prompt: str,
        max_tokens: int | None,
        emit: Callable[[str], None],
        cancelled: threading.Event,
    ) -> None:
        for _ in range(int(prompt)):
            emit(DELTA)


def host(addr: str, ready: Any) -> None:
    with warmwire.listen(addr) as listener:
        ready.set()
        listener.serve_forever(Handler())


@contextmanager
def serving() -> Iterator[str]:
    """The address of a host in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="warmwire-") as directory:
        addr = str(Path(directory) / "bench.sock")
        ready = context.Event()
        process = context.Process(target=host, args=(addr, ready), daemon=True)
        process.start()
        try:
            ready.wait()
            yield addr
        finally:
            process.terminate()
            process.join()


class Bare:
    """The page's bytes through a socketpair, and nothing else."""

    def __init__(self, page: np.ndarray[Any, Any]) -> None:
        self.left, self.right = socket.socketpair()
        self.data = memoryview(page).cast("B")
        self.buffer = memoryview(bytearray(self.data.nbytes))
        self.buffer[:] = self.data  # the memory is there before it is timed

    def __call__(self) -> None:
        sender = threading.Thread(target=self.left.sendall, args=(self.data,))
        sender.start()
        got = 0
        while got < len(self.buffer):
            got += self.right.recv_into(self.buffer[got:])
        sender.join()


def page_rows(addr: str, seconds: float, most: int) -> Rows:
    """A page in the caches, and one that is not."""
    page = np.random.default_rng(0).integers(0, 255, PAGE, dtype=np.uint8)
    bare = Bare(page)
    elsewhere = np.ones(CACHES, np.uint8)
    size = f"{page.nbytes / 1e6:.0f} MB"
    with warmwire.dial(addr) as engine:

        def ours() -> float:
            return 1000 * timed(lambda: engine.recognize(page, prompt="1"))

        def theirs() -> float:
            return 1000 * timed(bare)

        def cold(side: Callable[[], float]) -> float:
            np.add(elsewhere, 1, out=elsewhere)
            return side()

        pairs = in_turn(ours, theirs, seconds / 2, most=most)
        yield paired(GROUP, f"page of {size}, hot", "ms", "bare socket", pairs, more=False, wanted=1.6)
        pairs = in_turn(lambda: cold(ours), lambda: cold(theirs), seconds / 2, most=most)
        yield paired(GROUP, f"page of {size}, cold", "ms", "bare socket", pairs, more=False, wanted=1.6)


def question(deltas: int) -> bytes:
    """A request whose answer has so many deltas, as bytes."""
    image = image_attachment("page", np.zeros((1, 1, 3), np.uint8))
    message = Message("user", [image_block("page"), text_block(str(deltas))])
    return b"".join(bytes(piece) for piece in encode_request(Request(messages=[message], attachments=[image])))


def answer_size(sock: socket.socket) -> int:
    """Count the bytes of an answer."""
    buffer, tail, size = bytearray(1 << 18), b"", 0
    while b'"type":"done"' not in tail:
        count = sock.recv_into(buffer)
        if not count:
            raise SystemExit("the host closed the connection")
        size += count
        tail = (tail + buffer[max(0, count - 400) : count])[-400:]
    return size


def write_bare(sock: socket.socket) -> None:
    """A process that, asked for so many bytes in so many writes, writes them."""
    while asked := sock.recv(ASKED.size):
        size, writes = ASKED.unpack(asked)
        piece = bytes(size // writes)
        for _ in range(writes):
            sock.sendall(piece)


@contextmanager
def bare_writer() -> Iterator[Callable[[int, int], None]]:
    """Reads so many bytes that a process of its own writes in so many writes."""
    ours, theirs = socket.socketpair()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=write_bare, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    buffer = bytearray(1 << 18)

    def read(size: int, writes: int) -> None:
        ours.sendall(ASKED.pack(size, writes))
        left = size // writes * writes
        while left:
            left -= ours.recv_into(buffer)

    try:
        read(1, 1)
        yield read
    finally:
        ours.close()
        process.join()


def delta_rows(addr: str, deltas: int, seconds: float, most: int) -> Rows:
    """Deltas a second to who counts bytes and to a client, beside a bare writer of the same bytes."""
    small = np.zeros((1, 1, 3), np.uint8)
    with bare_writer() as bare, warmwire.dial(addr) as engine, socket.socket(socket.AF_UNIX) as sock:
        sock.connect(addr)
        asked = question(deltas)
        sock.sendall(asked)
        size = answer_size(sock)

        def counted() -> float:
            def ask() -> None:
                sock.sendall(asked)
                answer_size(sock)

            return deltas / timed(ask)

        def read() -> float:
            return deltas / timed(lambda: engine.recognize(small, prompt=str(deltas)))

        def one_by_one() -> float:
            return deltas / timed(lambda: bare(size, deltas))

        def at_once() -> float:
            return deltas / timed(lambda: bare(size, 1))

        for name, ours, beside, theirs in (
            ("deltas, counted", counted, "bare, a write each", one_by_one),
            ("deltas, counted", counted, "bare, one write", at_once),
            ("deltas, read by a client", read, "bare, a write each", one_by_one),
        ):
            pairs = in_turn(ours, theirs, seconds / 3, most=most)
            yield paired(GROUP, name, "/s", beside, pairs, more=True)


def rows(budget: Budget) -> Rows:
    yield from measure(20_000 if budget.quick else 100_000, budget.share(0.4), budget.share(0.4), 60)


def measure(deltas: int, page_seconds: float, delta_seconds: float, most: int) -> Rows:
    with serving() as addr:
        yield from page_rows(addr, page_seconds, most)
        yield from delta_rows(addr, deltas, delta_seconds, most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=30, help="transfers of a page, each beside a bare one")
    parser.add_argument("--deltas", type=int, default=400_000, help="deltas of one answer")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    show(measure(args.deltas, math.inf, 20, args.runs), args.json)


if __name__ == "__main__":
    main()
