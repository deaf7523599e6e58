"""What the tests of the bridge share: bridges in this process and in their own, and raw HTTP."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import openai

from tests.support import COMMAND, PATIENCE, Script
from warmwire.bridge.serve import bind, make_server
from warmwire.models.interface import Finish
from warmwire.wire.generation.messages import OutBlock, Request


class Url:
    """A bridge by its URL, and the clients for it."""

    url: str

    @property
    def base(self) -> str:
        """Without the /v1."""
        return self.url.removesuffix("/v1")

    def openai(self, key: str = "none") -> openai.OpenAI:
        return openai.OpenAI(base_url=self.url, api_key=key, max_retries=0, timeout=PATIENCE)

    def async_openai(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(base_url=self.url, api_key="none", max_retries=0, timeout=PATIENCE)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(self.base + path, headers=headers, timeout=PATIENCE, trust_env=False)

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx.post(self.url + path, content=data, headers=headers, timeout=PATIENCE, trust_env=False)

    def begin(self, path: str, body: Any) -> socket.socket:
        """Send a request and leave its answer to the caller."""
        parts = urlsplit(self.url)
        data = json.dumps(body).encode()
        sock = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)
        head = f"POST /v1{path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: {len(data)}\r\n\r\n"
        sock.sendall(head.encode() + data)
        return sock


class BridgeThread(Url):
    """A bridge in this process, on a loop of its own thread."""

    def __init__(self, addr: Any, key: str | None = None, *, drain_timeout: int = 1, **options: Any) -> None:
        self._sock = bind("127.0.0.1:0")
        self.url = f"http://127.0.0.1:{self._sock.getsockname()[1]}/v1"
        self._server = make_server(addr, key, drain_timeout=drain_timeout, **options)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> BridgeThread:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the bridge did not end"

    def stop(self) -> None:
        """Begin to drain."""
        self._server.should_exit = True

    def _run(self) -> None:
        asyncio.run(self._server.serve([self._sock]))


class BridgeProcess(Url):
    """`warmwire bridge` in a process of its own."""

    def __init__(self, addr: str | None, *options: str, **environment: str) -> None:
        socket = [] if addr is None else ["--socket", addr]
        self.process = subprocess.Popen(
            [*COMMAND, "bridge", *socket, "--listen", "127.0.0.1:0", *options],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )
        assert self.process.stderr is not None
        self.ready_line = self.process.stderr.readline()
        assert "http://" in self.ready_line, self.ready_line + self.process.stderr.read()
        self.url = self.ready_line.split()[-1]

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; returns the exit status and everything said meanwhile."""
        self.process.send_signal(number)
        out, log = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out + self.ready_line + log

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=PATIENCE)


def whole(shape: Any, chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """An answer in one piece, of its chunks."""
    for chunk in chunks:
        shape.keep(chunk)
    answer: dict[str, Any] = shape.whole()
    return answer


@contextmanager
def line_server(path: str, *lines: Any) -> Iterator[None]:
    """Something at `path` that tells every client the same lines and says no more, as an admin socket does."""
    data = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    held: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(path)
        listening.listen()

        def accept() -> None:
            while True:
                try:
                    sock, _ = listening.accept()
                except OSError:
                    return
                held.append(sock)
                with suppress(BrokenPipeError):  # who only wanted to know whether somebody is there
                    sock.sendall(data)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE)
            for sock in held:
                sock.close()


def say(*texts: str, **finish: Any) -> Script:
    """A model that says this to everyone."""

    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        for text in texts:
            emit(OutBlock("text", text))
        return Finish(**finish)

    return Script(play)


def png(image: np.ndarray) -> str:
    """An image as a data URI."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def receive(sock: socket.socket, end: bytes) -> bytes:
    """What comes until it ends in `end`."""
    data = bytearray()
    while not data.endswith(end):
        piece = sock.recv(1 << 20)
        assert piece, f"the stream ended with {bytes(data[-200:])!r}"
        data += piece
    return bytes(data)


def events(response: httpx.Response) -> list[Any]:
    """The data of each server-sent event."""
    pieces = response.content.decode().split("\n\n")
    assert pieces.pop() == ""
    assert all(piece.startswith("data: ") and "\n" not in piece for piece in pieces)
    return [piece[6:] if piece == "data: [DONE]" else json.loads(piece[6:]) for piece in pieces]


def ask(text: str, **more: Any) -> dict[str, Any]:
    """The body of a chat completion with one user text."""
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}
