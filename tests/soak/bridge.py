"""HTTP clients of a bridge in every bad manner: raw sockets, since no library of HTTP would send what is sent here."""

from __future__ import annotations

import itertools
import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from tests.fuzz.damage import damage
from tests.soak.stage import WAIT, Actor, Stage
from tests.soak.wire import words
from warmwire.bridge.http import HEAD_TIMEOUT


class Http(Actor):
    """One who talks to the bridge."""

    fault = "HTTP cut, trickled or damaged"
    pause = 0.08

    def __init__(self, stage: Stage, url: str, number: int = 0) -> None:
        super().__init__(stage, number)
        parts = urlsplit(url)
        self._where = parts.hostname, parts.port
        self._names = (f"{self.name}.{count}" for count in itertools.count())

    def turn(self) -> None:
        name, count, streamed = next(self._names), self.rng.choice([0, 3, 50]), self.rng.random() < 0.5
        data = self._request(f"mark {name} {count}", streamed)
        with socket.create_connection(self._where, timeout=WAIT) as sock:  # type: ignore[arg-type]
            match self.one_of({"ask": 6, "cut": 5, "damage": 5, "trickle": 1, "leave": 4, "half-close": 2}):
                case "ask":
                    sock.sendall(data)
                    self._judge(sock, name, count, streamed)
                case "cut":
                    cut = self.rng.randint(0, len(data))
                    self.did("HTTP cut, trickled or damaged", f"{name} after {cut} of {len(data)} bytes")
                    sock.sendall(data[:cut])
                case "half-close":
                    self.did("HTTP cut, trickled or damaged", f"{name}, half-closed early")
                    sock.sendall(data[: self.rng.randint(0, len(data) - 1)])
                    sock.shutdown(socket.SHUT_WR)
                    self._refused(sock)
                case "damage":
                    self._damaged(sock, data)
                case "trickle":
                    self.did("HTTP cut, trickled or damaged", f"{name}, byte by byte")
                    self._trickle(sock, data, lambda: self._judge(sock, name, count, streamed))
                case "leave":
                    self.did("HTTP stream left", name)
                    sock.sendall(self._request(f"slow {name} 5000", True))
                    for _ in range(self.rng.randint(0, 2)):
                        sock.recv(1000)

    def _request(self, prompt: str, streamed: bool) -> bytes:
        message = {"role": "user", "content": prompt}
        body = json.dumps({"model": "x", "messages": [message], "stream": streamed}).encode()
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def _trickle(self, sock: socket.socket, data: bytes, judge: Callable[[], None]) -> None:
        """A machine that others use as well may be slower than the bridge waits for a head; then it may refuse."""
        began, refused = time.monotonic(), False
        try:
            for byte in data:
                sock.sendall(bytes([byte]))
                time.sleep(0.0005)
        except (BrokenPipeError, ConnectionResetError):
            refused = True
        took = time.monotonic() - began
        if took < HEAD_TIMEOUT:
            self.check(not refused, f"closed after {took:.1f} s, though it came steadily")
            judge()

    def _judge(self, sock: socket.socket, name: str, count: int, streamed: bool) -> None:
        """The answer is whole, or says that its worker was killed, in the middle of a stream too."""
        answer = _rest(sock)
        head, _, body = answer.partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head else 0
        if status in (429, 500, 502, 503):
            self.check(json.loads(_unchunked(head, body))["error"]["message"], f"{status} without a message")
            return
        self.check(status == 200, f"{head[:100]!r}")
        said, broken = _streamed(_unchunked(head, body)) if streamed else _whole(_unchunked(head, body))
        spoken = said.partition(" ")[2].partition(" ")[2]
        whole = words(name, count)
        self.check(whole.startswith(spoken) if broken else spoken == whole, f"{name}: {said[:200]!r}, {broken=}")

    def _refused(self, sock: socket.socket) -> None:
        head = _rest(sock).partition(b"\r\n\r\n")[0]
        self.check(not head or head.split()[1][:1] in (b"4", b"5"), f"{head[:100]!r}")

    def _damaged(self, sock: socket.socket, data: bytes) -> None:
        bad = damage(data, self.rng)
        self.did("HTTP cut, trickled or damaged", repr(bad[:400]))
        with suppress(BrokenPipeError, ConnectionResetError):
            sock.sendall(bad)
            sock.shutdown(socket.SHUT_WR)
        head = _rest(sock).partition(b"\r\n\r\n")[0]
        sound = not head or head.startswith(b"HTTP/1.1 ")
        self.check(sound and b" 500 " not in head[:20], f"{head[:100]!r} to {bad[:300]!r}")


def _rest(sock: socket.socket) -> bytes:
    """What comes, to the end of the stream."""
    data = b""
    with suppress(ConnectionResetError):
        while part := sock.recv(1 << 16):
            data += part
    return data


def _unchunked(head: bytes, body: bytes) -> bytes:
    """The body without the marks of its transfer in chunks; a chunk that is cut off is left out."""
    if b"transfer-encoding: chunked" not in head.lower():
        return body
    out = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size or b"0", 16)
        out += body[:length]
        body = body[length + 2 :]
    return out


def _streamed(body: bytes) -> tuple[str, bool]:
    """The text of a stream of events, and whether it was broken off with an error."""
    said, broken, done = "", False, False
    for line in body.decode().splitlines():
        if line == "data: [DONE]":
            done = True
        elif line.startswith("data: "):
            event: dict[str, Any] = json.loads(line.removeprefix("data: "))
            broken = broken or "error" in event
            for choice in event.get("choices", ()):
                said += choice["delta"].get("content") or ""
    return said, broken or not done


def _whole(body: bytes) -> tuple[str, bool]:
    return json.loads(body)["choices"][0]["message"]["content"], False
