"""What the Markov model and the grall wire cost, as one table with the ratios that matter.

    python benchmarks/markov.py [--megabytes 10] [--large] [--json]

The text is made here: words of a Zipf vocabulary in which each has favourite followers, ten megabytes of which give
two million contexts of depth 8. Times of training are set against `numpy.sort` of ten million random 64-bit keys in
the same run, because a shared machine is as fast as its neighbours let it be. Servers run as processes of their own.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from warmwire.markov import Chain, Generation, kernel, load
from warmwire.wire.grall import Event, EventReader, Gen, New, Pong, encode_command

DEPTH = 8
WARMWIRE = [sys.executable, "-c", "from warmwire.cli import main; main()"]


class Row(NamedTuple):
    """One line of the table; `goal` says what it should be."""

    what: str
    value: str
    ratio: str
    goal: str
    good: bool


def make_text(size: int, path: Path) -> None:
    """Write `size` bytes that look like prose to a Markov chain."""
    rng = np.random.default_rng(1)
    onsets = ["", "b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "th", "sh", "br", "st", "tr"]
    syllables = [a + v + e for a in onsets for v in "aeiou" for e in ["", "n", "r", "s", "l"]]
    vocabulary = 80_000
    lengths = np.minimum(1 + rng.poisson(1.2, vocabulary), 5)
    words = ["".join(rng.choice(syllables, n)) for n in lengths]
    weight = 1 / np.arange(1, vocabulary + 1) ** 0.85
    weight /= weight.sum()
    followers = rng.choice(vocabulary, (vocabulary, 6), p=weight)
    with open(path, "wb") as file:
        written, word = 0, 0
        while written < size:
            block = 100_000
            free = rng.choice(vocabulary, block, p=weight).tolist()
            follow, which, mark = rng.random(block).tolist(), rng.integers(0, 6, block).tolist(), rng.random(block)
            ends = np.where(mark < 0.07, ", ", np.where(mark < 0.12, ".\n", " ")).tolist()
            parts = []
            for i in range(block):
                word = int(followers[word, which[i]]) if follow[i] < 0.4 else free[i]
                parts += (words[word], ends[i])
            data = "".join(parts).encode()[: size - written]
            file.write(data)
            written += len(data)


def timed(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def sort_time() -> float:
    keys = np.random.default_rng(0).integers(0, 2**64, 10_000_000, dtype=np.uint64)
    return timed(keys.sort)


def train(text: Path, model: Path) -> tuple[float, int]:
    """Seconds and peak bytes of training in a process of its own, without the interpreter's start."""
    program = (
        "import sys, time, resource\n"
        "from warmwire.markov import train_file\n"
        "begun = time.perf_counter(); train_file(sys.argv[2], [sys.argv[1]], 8)\n"
        "print(time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    out = subprocess.run([sys.executable, "-c", program, text, model], check=True, capture_output=True, text=True)
    seconds, peak = out.stdout.split()
    return float(seconds), int(peak)


def training_rows(text: Path, model: Path, large: bool, folder: Path) -> list[Row]:
    size = text.stat().st_size
    sort = min(sort_time() for _ in range(2))
    seconds, peak = min(train(text, model) for _ in range(2))
    sorts = seconds / sort * (10e6 / size)
    what = f"train {size / 1e6:.0f} MB, depth {DEPTH}"
    rows = [
        Row(what, f"{size / seconds / 1e6:.1f} MB/s", f"{sorts:.2f} sorts", "<= 5", sorts <= 5),
        memory_row(peak, size),
    ]
    if large:
        make_text(10 * size, folder / "large.txt")
        longer, more = train(folder / "large.txt", folder / "large.gril")
        what, times = f"train {size / 1e5:.0f} MB", longer / seconds
        rows.append(Row(what, f"{10 * size / longer / 1e6:.1f} MB/s", f"{times:.1f} x", "<= 12", times <= 12))
        rows.append(memory_row(more, 10 * size))
    return rows


def memory_row(peak: int, size: int) -> Row:
    return Row("  peak memory", f"{peak / 1e6:.0f} MB", f"{peak / size:.1f} per byte", "<= 40", peak <= 40 * size)


def loading_rows(model: Path) -> list[Row]:
    read, loaded = [], []
    for _ in range(7):
        read.append(timed(model.read_bytes))
        loaded.append(timed(lambda: load(model)))
    seconds = statistics.median(loaded)
    ratio = seconds / statistics.median(read)
    what = f"load and verify {model.stat().st_size / 1e6:.0f} MB"
    return [Row(what, f"{seconds * 1e3:.1f} ms", f"{ratio:.2f} x reading", "<= 3", ratio <= 3)]


def generate(chain: Chain, size: int, seed: int) -> None:
    source = Generation(chain, rng_seed=seed)
    for _ in range(size >> 16):
        source.take(1 << 16)


def generation_rows(chain: Chain) -> list[Row]:
    prepared = timed(chain.prepare)
    size = 8 << 20 if kernel.COMPILED else 1 << 16
    one = size / min(timed(lambda i=i: generate(chain, size, i)) for i in range(4)) / 1e6  # type: ignore[misc]

    def both() -> None:
        threads = [threading.Thread(target=generate, args=(chain, size, i)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    two = 2 * size / min(timed(both) for _ in range(4)) / 1e6
    return [
        Row(f"prepare {chain.header.nodes:,} contexts", f"{prepared:.2f} s", "", "", True),
        Row("generate, one thread", f"{one:.1f} MB/s", f"{one / 0.47:.0f} x reference", ">= 7 MB/s", one >= 7),
        Row("generate, two threads", f"{two:.1f} MB/s", f"{two / one:.2f} x one", ">= 1.6", two >= 1.6 * one),
    ]


class Server:
    """`warmwire ipc` in a process of its own."""

    def __init__(self, model: Path, path: str) -> None:
        self.path = path
        self.process = subprocess.Popen([*WARMWIRE, "ipc", str(model), path], stderr=subprocess.PIPE)
        assert self.process.stderr is not None
        self.process.stderr.readline()

    def connect(self) -> socket.socket:
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(self.path)
        assert sock.recv(1) == b"\x01"
        return sock

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> int:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate()


def token_row(server: Server) -> Row:
    """One unlimited generation and a client that only reads."""
    sock = server.connect()
    sock.sendall(encode_command(New(b"g")))
    buffer = bytearray(1 << 18)
    rates = []
    for _ in range(3):
        begun, got = time.perf_counter(), 0
        while time.perf_counter() - begun < 1:
            got += sock.recv_into(buffer)
        rates.append(got / 14 / (time.perf_counter() - begun))
    sock.close()
    rate = max(rates)
    times = f"{rate / 116e3:.0f} x reference"
    return Row("ipc, one reader", f"{rate / 1e6:.2f} M tokens/s", times, ">= 1 M", rate >= 1e6)


def ping_process(path: str, seconds: float, out: multiprocessing.Queue[list[float]]) -> None:
    """Ping every few milliseconds from a process that does nothing else."""
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(path)
    sock.recv(1)
    waits, until = [], time.perf_counter() + seconds
    while time.perf_counter() < until:
        begun = time.perf_counter()
        sock.sendall(b"\x01")
        sock.recv(1)
        waits.append(time.perf_counter() - begun)
        time.sleep(0.003)
    out.put(waits)


def busy_rows(server: Server) -> list[Row]:
    """64 unlimited generations on 8 connections: pings of a ninth and on one of them, and each one's share."""
    seconds = 4.0
    socks = [server.connect() for _ in range(8)]
    readers = {sock: EventReader() for sock in socks}
    counts = dict.fromkeys([(sock, b"%d" % k) for sock in socks for k in range(8)], 0)
    for sock in socks:
        sock.sendall(b"".join(encode_command(New(b"%d" % k)) for k in range(8)))
    queue: multiprocessing.Queue[list[float]] = multiprocessing.Queue()
    pinger = multiprocessing.Process(target=ping_process, args=(server.path, seconds, queue))
    pinger.start()
    own: list[float] = []
    begun = time.perf_counter()
    sent = 0.0
    with selectors.DefaultSelector() as selector:
        for sock in socks:
            selector.register(sock, selectors.EVENT_READ)
        while time.perf_counter() < begun + seconds:
            if not sent and len(own) < (time.perf_counter() - begun) * 200:
                sent = time.perf_counter()
                socks[0].sendall(b"\x01")
            for key, _ in selector.select(0.01):
                sock = key.fileobj
                assert isinstance(sock, socket.socket)
                events: list[Event] = readers[sock].feed(sock.recv(1 << 16))
                for event in events:
                    if isinstance(event, Gen):
                        counts[sock, event.name] += event.tokens
                    elif isinstance(event, Pong):
                        own.append(time.perf_counter() - sent)
                        sent = 0.0
    elapsed = time.perf_counter() - begun
    waits = queue.get()
    pinger.join()
    for sock in socks:
        sock.close()
    mean = statistics.mean(counts.values())
    spread = max(max(counts.values()) / mean - 1, 1 - min(counts.values()) / mean)
    ninth, same = np.percentile(waits, 99) * 1e3, np.percentile(own, 99) * 1e3
    return [
        Row(
            "ping p99 under 64 generations", f"{ninth:.1f} ms", f"{ninth / 6.9:.2f} x reference", "<= 6 ms", ninth <= 6
        ),
        Row("  on a connection of them", f"{same:.1f} ms", f"{same / 6.9:.2f} x reference", "<= 6 ms", same <= 6),
        Row(
            "  share of each",
            f"{mean / elapsed / 1e3:.1f} k tokens/s",
            f"within {spread:.1%}",
            "<= 10 %",
            spread <= 0.1,
        ),
    ]


def idle_row(server: Server) -> Row:
    """2,000 connections that do nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    before = server.resident()
    socks = [server.connect() for _ in range(min(2000, hard - 100))]
    used, begun = server.cpu(), time.perf_counter()
    time.sleep(3)
    share = (server.cpu() - used) / (time.perf_counter() - begun)
    memory = server.resident() - before
    for sock in socks:
        sock.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    good = memory < 100e6 and share < 0.01
    return Row(
        f"{len(socks):,} idle connections", f"{memory / 1e6:.1f} MB", f"{share:.1%} CPU", "< 100 MB, < 1 %", good
    )


def start_row(text: Path, folder: Path) -> Row:
    """A short run from process start to exit, on a model of 5 MB of text."""
    half = folder / "half.txt"
    half.write_bytes(text.read_bytes()[:5_000_000])
    train(half, folder / "half.gril")
    command = [*WARMWIRE, "run", str(folder / "half.gril"), "--limit", "200"]
    seconds = min(timed(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(7))
    return Row("run --limit 200, start to exit", f"{seconds:.2f} s", "", "<= 0.35 s", seconds <= 0.35)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=10, help="size of the text")
    parser.add_argument("--large", action="store_true", help="also train on ten times as much")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        text, model = folder / "text", folder / "text.gril"
        make_text(int(options.megabytes * 1e6), text)
        rows = training_rows(text, model, options.large, folder)
        rows += loading_rows(model)
        rows += generation_rows(load(model))
        server = Server(model, f"{name}/s.sock")
        try:
            rows += [token_row(server), *busy_rows(server), idle_row(server)]
        finally:
            server.stop()
        rows.append(start_row(text, folder))
    if options.json:
        print(json.dumps([row._asdict() for row in rows], indent=1))
        return
    state = "compiled" if kernel.COMPILED else "interpreted"
    print(f"kernel: {state}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for row in rows:
        print(f"{row.what:<34} {row.value:>18}  {row.ratio:<20} {row.goal:<16} {'ok' if row.good else 'MISSED'}")


if __name__ == "__main__":
    main()
