"""What a crowd costs a host and its bridge: connections that do nothing, and streams that never stop.

    python benchmarks/crowd.py [--idle 2000] [--probes 200] [--json]

Idle: the resident memory of `warmwire serve echo` before, with, and after so many connections, each of which has had an
answer. Busy: four streams of a Markov chain, each faster than the bridge can pass on, through `warmwire bridge`, and
beside them one short request after another to `/health`. Fast: the deltas a second of `serve echo` to a client that
only counts bytes. `benchmarks/host.py` prints the same.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from warmwire.client import Client, Message, Request, text_block
from warmwire.markov import train
from warmwire.wire.generation.request import encode_request

COMMAND = [sys.executable, "-c", "from warmwire.command import main; main()"]
STREAMS = 4
DELTAS = 200_000
MOST_HEALTH_MS, MOST_IDLE_KB, MOST_IDLE_MB = 50.0, 16.0, 40.0


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A command of ours that says that it is ready, until the block ends."""
    process = subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = next((line for line in process.stderr if "ready" in line), "")
        threading.Thread(target=process.stderr.read, daemon=True).start()
        process.url = line.split()[-1]  # type: ignore[attr-defined]
        yield process
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


def idle(count: int, directory: str) -> dict[str, float]:
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
    return {
        "idle_connections": count,
        "idle_kb_each": 1000 * (there - before) / count,
        "idle_mb": there - before,
        "idle_mb_kept": after - before,
    }


def busy(probes: int, directory: str) -> dict[str, float]:
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
        parts = urlsplit(bridge.url)  # type: ignore[attr-defined]

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
    return {"health_ms_median": median(times), "health_ms_p99": sorted(times)[int(len(times) * 0.99)]}


def drain(sock: socket.socket) -> None:
    with suppress(OSError):
        while sock.recv(1 << 20):
            pass


def fast(directory: str) -> dict[str, float]:
    addr = f"{directory}/fast.sock"
    with running("serve", "echo", "--socket", addr), socket.socket(socket.AF_UNIX) as sock:
        sock.connect(addr)
        rates = []
        for _ in range(3):
            begun = time.perf_counter()
            sock.sendall(question("word " * DELTAS))
            read_answer(sock)
            rates.append(DELTAS / (time.perf_counter() - begun))
    return {"worker_deltas_per_second": median(rates)}


def measure(count: int, probes: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="warmwire-") as directory:
        return {**idle(count, directory), **busy(probes, directory), **fast(directory), "load": os.getloadavg()[0]}


def show(result: dict[str, Any]) -> None:
    print(
        f"{result['idle_connections']} idle connections: {result['idle_kb_each']:.1f} KB each (goal {MOST_IDLE_KB:g}),"
        f" {result['idle_mb']:.1f} MB together (goal {MOST_IDLE_MB:g}), {result['idle_mb_kept']:.1f} MB kept"
    )
    print(
        f"/health beside {STREAMS} fast streams: median {result['health_ms_median']:.1f} ms,"
        f" p99 {result['health_ms_p99']:.1f} ms (goal {MOST_HEALTH_MS:g}); load {result['load']:.1f}"
    )
    print(f"deltas a second of a worker process: {result['worker_deltas_per_second']:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--idle", type=int, default=2000, help="connections that do nothing")
    parser.add_argument("--probes", type=int, default=200, help="requests to /health")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result = measure(args.idle, args.probes)
    print(json.dumps(result)) if args.json else show(result)


if __name__ == "__main__":
    main()
