"""What the wire costs: a page from client to handler, and deltas from handler to client.

    python benchmarks/transfer.py [--runs 30] [--deltas 400000] [--json]

The limit of a page's transfer is the kernel's copy: the same bytes through a bare socketpair, `sendall` into
`recv_into` of a buffer that is already there, in the same run and in turn with ours. Ours is a whole request: page,
header, handler called with the array, one delta, done. The host is a process of its own, as it is in use.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import warmwire

PAGE = (2200, 1700, 3)


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
            emit("123456789 ")


def host(addr: str, ready: Any) -> None:
    with warmwire.listen(addr) as listener:
        ready.set()
        listener.serve_forever(Handler())


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


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


def measure(runs: int, deltas: int) -> dict[str, float]:
    page = np.random.default_rng(0).integers(0, 255, PAGE, dtype=np.uint8)
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as directory:
        addr = str(Path(directory) / "bench.sock")
        ready = context.Event()
        process = context.Process(target=host, args=(addr, ready), daemon=True)
        process.start()
        ready.wait()
        try:
            with warmwire.dial(addr) as engine:
                bare = Bare(page)
                engine.recognize(page, prompt="1")
                times = [(timed(bare), timed(lambda: engine.recognize(page, prompt="1"))) for _ in range(runs)]
                small = page[:1, :1]
                rates = [deltas / timed(lambda: engine.recognize(small, prompt=str(deltas))) for _ in range(5)]
        finally:
            process.terminate()
            process.join()
    return {
        "bare_ms": 1000 * statistics.median(b for b, _ in times),
        "page_ms": 1000 * statistics.median(o for _, o in times),
        "ratio_median": statistics.median(o / b for b, o in times),
        "ratio_of_best": min(o for _, o in times) / min(b for b, _ in times),
        "deltas_per_second": statistics.median(rates),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=30, help="transfers of a page, each beside a bare one")
    parser.add_argument("--deltas", type=int, default=400_000, help="deltas of one answer")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result = measure(args.runs, args.deltas)
    if args.json:
        print(json.dumps(result))
        return
    size = PAGE[0] * PAGE[1] * PAGE[2] / 1e6
    print(f"page of {PAGE[1]}x{PAGE[0]} RGB, {size:.1f} MB, median of {args.runs} pairs")
    print(f"  bare socketpair         {result['bare_ms']:8.2f} ms")
    print(f"  client to handler       {result['page_ms']:8.2f} ms")
    print(f"  ratio, median of pairs  {result['ratio_median']:8.2f}   (limit 1.6)")
    print(f"  ratio, best to best     {result['ratio_of_best']:8.2f}")
    print(f"deltas of 10 bytes        {result['deltas_per_second']:8.0f} /s   (goal 400000)")


if __name__ == "__main__":
    main()
