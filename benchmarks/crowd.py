"""What a crowd costs a host and its bridge: connections that do nothing, and streams that never stop.

    python benchmarks/crowd.py [--idle 2000] [--probes 200] [--json]

Idle: the resident memory of `warmwire serve echo` before, with, and after so many connections, each of which has had an
answer. Busy: four streams of a Markov chain, each faster than the bridge can pass on, through `warmwire bridge`, and
beside them one short request after another to `/health`. Fast: the deltas a second of `serve echo` to a client that
only counts bytes. Clients: how much longer a short request takes where more of them ask at once, each again as soon as
it has its answer. `benchmarks/host.py` prints the same but for the last.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.rows import Budget, Rows, alone, growth
from benchmarks.table import show
from warmwire.client import Client, Message, Request, text_block
from warmwire.markov import train
from warmwire.wire.generation.request import encode_request

COMMAND = [sys.executable, "-m", "warmwire"]
STREAMS = 4
DELTAS = 200_000
GROUP: Final = "crowd"
MOST_HEALTH_MS, MOST_IDLE_KB, MOST_IDLE_MB, MOST_GROWTH = 50.0, 16.0, 40.0, 0.1


class Running(NamedTuple):
    """A command that is ready: its process, the last word of what it said, and how long it took."""

    pid: int
    url: str
    seconds: float


@contextmanager
def running(*words: str) -> Iterator[Running]:
    """A command of ours that says that it is ready, until the block ends."""
    begun = time.perf_counter()
    process = subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = next((line for line in process.stderr if "ready" in line), None)
        if line is None:
            raise SystemExit(f"warmwire {' '.join(words)} ended with status {process.wait()}")
        seconds = time.perf_counter() - begun
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield Running(process.pid, line.split()[-1], seconds)
    finally:
        process.terminate()
        process.wait()


def resident(pid: int) -> float:
    """Megabytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def question(text: str) -> bytes:
    request = Request(messages=[Message("user", [text_block(text)])])
    return b"".join(bytes(piece) for piece in encode_request(request))


def read_answer(sock: socket.socket) -> None:
    buffer, tail = bytearray(1 << 18), b""
    while b'"type":"done"' not in tail:
        count = sock.recv_into(buffer)
        if not count:
            raise SystemExit("the host closed the connection")
        tail = (tail + buffer[max(0, count - 300) : count])[-400:]


def idle(count: int, directory: str) -> Rows:
    """The memory of connections that do nothing."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    addr = f"{directory}/idle.sock"
    with running("serve", "echo", "--socket", addr) as host, ExitStack() as stack:

        def connect() -> socket.socket:
            sock = socket.socket(socket.AF_UNIX)
            sock.connect(addr)
            sock.sendall(question("x"))
            read_answer(sock)
            return sock

        connect().close()
        before = resident(host.pid)
        for _ in range(count):
            stack.enter_context(connect())
        there = resident(host.pid)
        stack.close()
        with Client(addr) as client:
            client.ask("x").text()
        after = resident(host.pid)
    name = f"{count:,} idle connections, memory"
    yield alone(GROUP, f"{name} of each", "KB", [1000 * (there - before) / count], more=False, wanted=MOST_IDLE_KB)
    yield alone(GROUP, name, "MB", [there - before], more=False, wanted=MOST_IDLE_MB)
    yield alone(GROUP, f"{name} kept", "MB", [after - before], more=False)


def busy(probes: int, directory: str) -> Rows:
    """How soon a bridge answers a short request while it is flooded."""
    text = Path(directory) / "text"
    text.write_bytes(bytes(range(97, 123)) * 40)
    model = str(Path(directory) / "fast.gril")
    train([text], 2).save(model)
    addr = f"{directory}/busy.sock"
    with (
        running("serve", model, "--socket", addr, "--workers", str(STREAMS), "--threads", "1"),
        running("bridge", "--socket", addr, "--listen", "127.0.0.1:0") as bridge,
        ExitStack() as stack,
    ):
        parts = urlsplit(bridge.url)

        def connect() -> socket.socket:
            return stack.enter_context(socket.create_connection((parts.hostname, parts.port)))

        body = json.dumps({"prompt": "abc", "max_tokens": 400_000_000, "stream": True}).encode()
        head = f"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        for _ in range(STREAMS):
            sock = connect()
            sock.sendall(head + body)
            sock.recv(1)
            threading.Thread(target=drain, args=(sock,), daemon=True).start()
        sock, times = connect(), []
        for _ in range(probes):
            begun = time.perf_counter()
            sock.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            answer = b""
            while b'"ok"' not in answer:
                answer += sock.recv(4096)
            times.append(1000 * (time.perf_counter() - begun))
    name = f"/health beside {STREAMS} fast streams"
    yield alone(GROUP, name, "ms", times, more=False)
    worst = [sorted(times[i::4])[int(len(times[i::4]) * 0.99)] for i in range(4)]
    yield alone(GROUP, f"{name}, p99", "ms", worst, more=False, wanted=MOST_HEALTH_MS)


def drain(sock: socket.socket) -> None:
    with suppress(OSError):
        while sock.recv(1 << 20):
            pass


def fast(directory: str) -> Rows:
    """Deltas a second of a worker that is a process."""
    addr = f"{directory}/fast.sock"
    with running("serve", "echo", "--socket", addr), socket.socket(socket.AF_UNIX) as sock:
        sock.connect(addr)
        rates = []
        for _ in range(3):
            begun = time.perf_counter()
            sock.sendall(question("word " * DELTAS))
            read_answer(sock)
            rates.append(DELTAS / (time.perf_counter() - begun))
    yield alone(GROUP, "deltas of a worker process, counted", "/s", rates, more=True)


def clients(counts: Sequence[int], seconds: float, directory: str) -> Rows:
    """Milliseconds that a short request costs, by how many clients there are."""
    addr, asked, points = f"{directory}/clients.sock", question("x"), []
    with running("serve", "echo", "--socket", addr, "--queue", str(2 * max(counts))):
        for count in counts:
            with ExitStack() as stack, selectors.DefaultSelector() as selector:
                for _ in range(count):
                    sock = stack.enter_context(socket.socket(socket.AF_UNIX))
                    sock.connect(addr)
                    sock.sendall(asked)
                    selector.register(sock, selectors.EVENT_READ)
                done, begun = -count, 0.0  # the first answer of each is not counted
                while done < count or time.perf_counter() < begun + seconds / len(counts):
                    for key, _ in selector.select():
                        sock = cast(socket.socket, key.fileobj)
                        read_answer(sock)
                        sock.sendall(asked)
                        done += 1
                        begun = time.perf_counter() if done == 0 else begun
                points.append((count, 1000 * (time.perf_counter() - begun) / done))
    axes = ("clients", "ms a request")
    yield growth(GROUP, "requests beside more clients", axes, points, wanted=MOST_GROWTH)


def measure(count: int, probes: int) -> Rows:
    with tempfile.TemporaryDirectory(prefix="warmwire-") as directory:
        yield from idle(count, directory)
        yield from busy(probes, directory)
        yield from fast(directory)


def rows(budget: Budget) -> Rows:
    yield from measure(*((500, 100) if budget.quick else (2000, 400)))
    with tempfile.TemporaryDirectory(prefix="warmwire-") as directory:
        counts = (1, 10, 100) if budget.quick else (1, 10, 100, 1000)
        yield from clients(counts, budget.share(0.3), directory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--idle", type=int, default=2000, help="connections that do nothing")
    parser.add_argument("--probes", type=int, default=200, help="requests to /health")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    args = parser.parse_args()
    show(measure(args.idle, args.probes), args.json)


if __name__ == "__main__":
    main()
