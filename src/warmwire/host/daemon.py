"""A host as a process of its own: claim the path, load, bind, serve, drain on a signal."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from typing import Any, cast

from warmwire.host.server import DRAIN_TIMEOUT, QUEUE_DEPTH, WRITE_TIMEOUT, Host
from warmwire.host.workers import WorkerPool
from warmwire.transport.listen import SocketPath


def run_host(
    model: str,
    addr: str | os.PathLike[str] | None = None,
    *,
    workers: int = 1,
    threads: int | None = None,
    queue_depth: int = QUEUE_DEPTH,
    write_timeout: float = WRITE_TIMEOUT,
    drain_timeout: float = DRAIN_TIMEOUT,
    on_ready: Callable[[str], None] = lambda path: None,
) -> None:
    """Serve `model` until SIGTERM or SIGINT; a second signal cuts what is still under way.

    `threads` is per worker, None shares the cores out. Raises ListenError, UsageError, and InputError or
    BackendUnavailableError when the model cannot be loaded.
    """

    async def main() -> None:
        stop, cut = asyncio.Event(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, lambda: (cut if stop.is_set() else stop).set())
        with SocketPath(addr) as path:
            host = Host(WorkerPool(model, workers, threads), queue_depth=queue_depth, write_timeout=write_timeout)
            try:
                if not await _unless(stop, host.runner.start()):
                    return
                listening = path.bind()
                on_ready(path.path)
                await host.serve(listening, stop)
                path.unlink()
                await _unless(cut, host.drain(drain_timeout))
            finally:
                await host.close()

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(main())


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, where it is installed."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return cast(Callable[[], asyncio.AbstractEventLoop], new_event_loop)


async def _unless(event: asyncio.Event, coroutine: Coroutine[Any, Any, object]) -> bool:
    """Await a coroutine unless the event comes first; returns whether it ended."""
    task = asyncio.ensure_future(coroutine)
    waiting = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        return task.done()
    finally:
        waiting.cancel()
        task.cancel()
        await asyncio.gather(task, waiting, return_exceptions=True)
