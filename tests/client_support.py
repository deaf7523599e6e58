"""What the tests of the clients share: the asyncio client in the clothes of the blocking one, and hosts by script."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from tests.support import PATIENCE, json_frame
from warmwire.client import AsyncClient
from warmwire.transport.conn import Conn
from warmwire.wire.generation.messages import OutBlock, Request


class Blocking:
    """Runs coroutines of one event loop in a thread of its own."""

    def __init__(self, factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
        self.loop = factory()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(PATIENCE)

    def call(self, function: Callable[[], Any]) -> Any:
        async def run() -> Any:
            return function()

        return self.run(run())

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE)
        self.loop.close()


class BlockingClient:
    def __init__(self, runner: Blocking, *args: Any, **options: Any) -> None:
        self._runner = runner
        self._client = AsyncClient(*args, **options)

    def __enter__(self) -> BlockingClient:
        self._runner.run(self._client.__aenter__())
        return self

    def __exit__(self, *info: Any) -> None:
        self._runner.run(self._client.__aexit__(*info))

    def connect(self) -> None:
        self._runner.run(self._client.connect())

    def ask(self, *args: Any, **options: Any) -> BlockingStream:
        return BlockingStream(self._runner, self._runner.run(self._client.ask(*args, **options)))

    def generate(self, request: Request) -> BlockingStream:
        return BlockingStream(self._runner, self._runner.run(self._client.generate(request)))

    def close(self) -> None:
        self._runner.call(self._client.close)


class BlockingStream:
    def __init__(self, runner: Blocking, stream: Any) -> None:
        self._runner = runner
        self._stream = stream

    @property
    def answer(self) -> Any:
        return self._stream.answer

    def __enter__(self) -> BlockingStream:
        self._runner.run(self._stream.__aenter__())
        return self

    def __exit__(self, *info: Any) -> None:
        self._runner.run(self._stream.__aexit__(*info))

    def __iter__(self) -> Iterator[str]:
        return self._iterate(self._stream)

    def blocks(self) -> Iterator[OutBlock]:
        return self._iterate(self._stream.blocks())

    def _iterate(self, source: Any) -> Iterator[Any]:
        iterator = aiter(source)
        while True:
            try:
                item = self._runner.run(anext(iterator))
            except StopAsyncIteration:
                return
            yield item

    def text(self) -> str:
        text: str = self._runner.run(self._stream.text())
        return text

    def cancel(self) -> None:
        self._runner.call(self._stream.cancel)


Clients = Callable[..., Any]
"""What a client is made by: its class, or that of a blocking coat of the asyncio one."""


@contextmanager
def scripted_server(path: str, *scripts: Callable[[Conn], None]) -> Iterator[list[threading.Event]]:
    """A server that runs one script per connection; what it says need not be sound.

    Gives an event per script that is set when its connection has been closed.
    """
    closed = [threading.Event() for _ in scripts]
    failures: list[BaseException] = []

    def run() -> None:
        try:
            for script, event in zip(scripts, closed, strict=True):
                sock, _ = listening.accept()
                with Conn(sock) as conn:
                    script(conn)
                event.set()
        except BaseException as error:
            failures.append(error)

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield closed
        thread.join(PATIENCE)
    if failures:
        raise failures[0]


def saying(*data: bytes) -> Callable[[Conn], None]:
    """A script that reads one request and answers with these bytes."""

    def script(conn: Conn) -> None:
        conn.read_request()
        for piece in data:
            conn.sock.sendall(piece)

    return script


DELTA = json_frame({"id": "", "type": "frame", "block": {"type": "text", "delta": "half "}})
DONE = json_frame(
    {"id": "", "type": "done", "usage": {"input_tokens": 1, "output_tokens": 2}, "stop_reason": "end_turn"}
)


def in_thread(function: Callable[[], Any]) -> Future[Any]:
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future
