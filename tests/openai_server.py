"""A small real HTTP server of the OpenAI format that does what a test tells it, also what no server should."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Exchange"], None]


@dataclass
class Exchange:
    """One request, and the means to answer it."""

    handler: BaseHTTPRequestHandler
    path: str
    body: Any
    headers: dict[str, str]
    closed: threading.Event = field(default_factory=threading.Event)

    def json(self, value: Any, status: int = 200) -> None:
        """A whole answer."""
        self.raw(json.dumps(value).encode(), status, "application/json")

    def raw(self, data: bytes, status: int = 200, kind: str = "text/plain") -> None:
        """Any bytes as a whole answer."""
        self.handler.send_response(status)
        self.handler.send_header("Content-Type", kind)
        self.handler.send_header("Content-Length", str(len(data)))
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def begin(self, kind: str = "text/event-stream") -> None:
        """The head of a stream that ends with the connection."""
        self.handler.send_response(200)
        self.handler.send_header("Content-Type", kind)
        self.handler.send_header("Connection", "close")
        self.handler.end_headers()

    def write(self, data: bytes) -> None:
        """Bytes of a stream."""
        self.handler.wfile.write(data)
        self.handler.wfile.flush()

    def events(self, values: Iterable[Any], done: bool = True) -> None:
        """A stream of server-sent events."""
        self.begin()
        for value in values:
            self.write(b"data: " + json.dumps(value).encode() + b"\n\n")
        if done:
            self.write(b"data: [DONE]\n\n")

    def wait_for_close(self, seconds: float = 10) -> None:
        """Block until the client has hung up."""
        self.handler.connection.settimeout(seconds)
        try:
            if self.handler.connection.recv(1) == b"":
                self.closed.set()
        except OSError:
            pass


class FakeServer:
    """`answers` maps a path to what answers it; `seen` are the requests so far."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {"/v1/models": lambda x: x.json({"data": [{"id": "m"}]})}
        self.seen: list[Exchange] = []
        self.url = ""

    def chat(self, answer: Answer) -> None:
        """Answer chat completions by `answer`."""
        self.answers["/v1/chat/completions"] = answer

    @property
    def last(self) -> Exchange:
        return self.seen[-1]


@contextmanager
def fake_server() -> Iterator[FakeServer]:
    """A server on a free port of this machine, for the time of the block."""
    fake = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            exchange = Exchange(self, self.path, body, dict(self.headers))
            fake.seen.append(exchange)
            answer = fake.answers.get(self.path, lambda x: x.json({"error": {"message": "no such path"}}, 404))
            try:
                answer(exchange)
            except (BrokenPipeError, ConnectionResetError):
                exchange.closed.set()
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()


def chunk(delta: Any = None, reason: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk of a streamed chat completion."""
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta or {}, "finish_reason": reason}],
    } | more


def usage(prompt: int, completion: int) -> dict[str, Any]:
    """The chunk that ends a stream with usage."""
    return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}}


def raw_stream(data: bytes) -> Any:
    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.write(data)

    return answer


def serve_vectors(server: FakeServer, width: int = 3) -> None:
    def answer(exchange: Exchange) -> None:
        texts = exchange.body["input"]
        rows = [{"index": i, "embedding": [float(len(text)), 2.0, 0.0][:width]} for i, text in enumerate(texts)]
        exchange.json({"data": rows[::-1], "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)}})

    server.answers["/v1/embeddings"] = answer


HELLO = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "Hel"}),
    chunk({"content": "lo"}),
    chunk({}, "stop"),
]
"""The events of an answer that says "Hello"."""
