"""What the server of a Markov model costs: its tokens, its answers to pings under load, its idle connections.

    python benchmarks/grall.py [--megabytes 10] [--json]

The server is `warmwire ipc`, a process of its own. Tokens stand beside a process that writes as many bytes to a socket,
one write a token or as much at once as it can; pings beside a process that does nothing but echo, pinged in turn with
ours while ours has 64 generations without end.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import mean
from typing import Any, Final

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.prose import make_text
from benchmarks.rows import Budget, Rows, alone, in_turn, paired, timed
from benchmarks.table import show
from benchmarks.transfer import bare_writer
from warmwire.markov import train
from warmwire.wire.grall import Event, EventReader, Gen, New, Ping, Pong, encode_command

GROUP: Final = "grall"
WARMWIRE: Final = [sys.executable, "-m", "warmwire"]
CONNECTIONS, EACH = 8, 8
"""Connections that are busy, and generations of each."""
PING: Final = encode_command(Ping())
FRAME: Final = 14
"""Bytes of a token of four bytes of a generation with a name of one."""
TOKENS: Final = 200_000
PARTS: Final = 8
"""Of the pings, each with percentiles of its own."""
MOST_PING_MS, MOST_UNEVEN, MOST_IDLE_MB, MOST_IDLE_CPU = 6.0, 0.1, 100.0, 0.01
"""What is wanted: a ping's 99th of 100, how far a generation's share is from the mean, and of idle connections memory
and the part of a processor."""


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


def token_rows(server: Server, seconds: float) -> Rows:
    """One unlimited generation and a client that only reads."""
    buffer = bytearray(1 << 18)
    with server.connect() as sock, bare_writer() as bare:
        sock.sendall(encode_command(New(b"g")))

        def read(size: int) -> None:
            while size > 0:
                size -= sock.recv_into(buffer)

        def ours() -> float:
            read(1 << 20)  # what was written while nobody asked
            return TOKENS / timed(lambda: read(TOKENS * FRAME)) / 1e6

        for beside, writes in (("bare, a write each", TOKENS), ("bare, one write", 1)):

            def theirs(writes: int = writes) -> float:
                return TOKENS / timed(lambda: bare(TOKENS * FRAME, writes)) / 1e6

            yield paired(GROUP, "tokens to one reader", "M/s", beside, in_turn(ours, theirs, seconds / 2), more=True)


def echo(sock: socket.socket) -> None:
    """A process that does nothing else."""
    while byte := sock.recv(1):
        sock.sendall(byte)


def ping(path: str, echoing: socket.socket, seconds: float, out: Connection) -> None:
    """Ping both every few milliseconds from a process that does nothing else; sends pairs of milliseconds."""
    until = time.monotonic() + seconds
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(path)
        sock.recv(1)

        def once(one: socket.socket) -> float:
            def there_and_back() -> None:
                one.sendall(PING)
                one.recv(1)

            return 1000 * timed(there_and_back)

        pairs = []
        while len(pairs) < PARTS or time.monotonic() < until:
            pairs.append((once(sock), once(echoing)))
            time.sleep(0.003)
        out.send(pairs)


@contextmanager
def pinging(path: str, seconds: float) -> Iterator[Connection]:
    """What `ping` sends when its time is over."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    near, far = socket.socketpair()
    processes = [
        context.Process(target=echo, args=(far,), daemon=True),
        context.Process(target=ping, args=(path, near, seconds, sender), daemon=True),
    ]
    for process in processes:
        process.start()
    for end in (sender, near, far):
        end.close()
    try:
        yield receiver
    finally:
        for process in processes:
            process.terminate()
            process.join()


def busy_rows(server: Server, seconds: float) -> Rows:
    """64 unlimited generations on 8 connections: pings of a ninth and on one of them, and each one's share."""
    with ExitStack() as stack:
        socks = [stack.enter_context(server.connect()) for _ in range(CONNECTIONS)]
        counts = dict.fromkeys([(sock, b"%d" % k) for sock in socks for k in range(EACH)], 0)
        for sock in socks:
            sock.sendall(b"".join(encode_command(New(b"%d" % k)) for k in range(EACH)))
        receiver = stack.enter_context(pinging(server.path, seconds))
        own = read_all(socks, counts, receiver)
        pairs = receiver.recv()
    for percent in (50, 99):
        parts = percentiles(pairs, percent)
        bound = MOST_PING_MS if percent == 99 else None
        name = f"ping p{percent} under {CONNECTIONS * EACH} generations"
        yield paired(GROUP, name, "ms", "bare echo", parts, more=False, wanted=bound, wanted_of="ours")
    yield alone(GROUP, "ping p99 on a busy connection", "ms", percentiles(own, 99), more=False, wanted=MOST_PING_MS)
    share = mean(counts.values())
    uneven = [abs(count / share - 1) for count in counts.values()]
    yield alone(GROUP, "share of a generation, off the mean", "", [max(uneven)], more=False, wanted=MOST_UNEVEN)


def percentiles(waits: list[Any], percent: int) -> list[Any]:
    """A percentile of each part of what was measured."""
    parts = np.array_split(np.asarray(waits), min(PARTS, len(waits)))
    return [np.percentile(part, percent, axis=0).tolist() for part in parts]


def read_all(
    socks: Sequence[socket.socket], counts: dict[tuple[socket.socket, bytes], int], ending: Connection
) -> list[float]:
    """Read generations until the other end has sent something, and count their tokens; pings the first connection now
    and then, which gives milliseconds."""
    readers = {sock: EventReader() for sock in socks}
    waits: list[float] = []
    begun, sent = time.perf_counter(), 0.0
    with selectors.DefaultSelector() as selector:
        for sock in socks:
            selector.register(sock, selectors.EVENT_READ)
        while not (waits and ending.poll()):
            if not sent and len(waits) < (time.perf_counter() - begun) * 200:
                sent = time.perf_counter()
                socks[0].sendall(PING)
            for key, _ in selector.select(0.01):
                sock = key.fileobj
                assert isinstance(sock, socket.socket)
                events: list[Event] = readers[sock].feed(sock.recv(1 << 16))
                for event in events:
                    if isinstance(event, Gen):
                        counts[sock, event.name] += event.tokens
                    elif isinstance(event, Pong):
                        waits.append(1000 * (time.perf_counter() - sent))
                        sent = 0.0
    return waits


def idle_rows(server: Server, seconds: float) -> Rows:
    """2,000 connections that do nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    before = server.resident()
    with ExitStack() as stack:
        socks = [stack.enter_context(server.connect()) for _ in range(min(2000, hard - 100))]
        used, begun = server.cpu(), time.perf_counter()
        time.sleep(seconds)
        share = (server.cpu() - used) / (time.perf_counter() - begun)
        memory = (server.resident() - before) / 1e6
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    name = f"{len(socks):,} idle connections"
    yield alone(GROUP, f"{name}, memory", "MB", [memory], more=False, wanted=MOST_IDLE_MB)
    yield alone(GROUP, f"{name}, of a processor", "", [share], more=False, wanted=MOST_IDLE_CPU)


def measure(model: Path, seconds: float) -> Rows:
    with tempfile.TemporaryDirectory(prefix="warmwire-") as folder:
        server = Server(model, f"{folder}/s.sock")
        try:
            yield from token_rows(server, 0.4 * seconds)
            yield from busy_rows(server, 0.4 * seconds)
            yield from idle_rows(server, 0.1 * seconds)
        finally:
            server.stop()


def rows(budget: Budget) -> Rows:
    yield from trained(1_000_000 if budget.quick else 10_000_000, budget.share(0.8))


def trained(size: int, seconds: float) -> Rows:
    """All rows, on a model of a text of so many bytes."""
    with tempfile.TemporaryDirectory(prefix="warmwire-") as folder:
        text, model = Path(folder) / "text", Path(folder) / "text.gril"
        make_text(size, text)
        train([text], 8).save(str(model))
        yield from measure(model, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=10, help="size of the text that the model is of")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    show(trained(int(options.megabytes * 1e6), 20), options.json)


if __name__ == "__main__":
    main()
