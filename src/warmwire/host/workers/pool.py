"""A pool of worker processes, each with its own model.

A model may leak, hang or crash; then it takes its process and one request with it and nothing else. A dead worker's
request gets `backend_unavailable`, the worker is replaced, and the pause before the next replacement doubles while
they keep dying without answering anything. A worker that has grown too large is replaced between two requests.

Where one loaded model answers several requests at once, a process has as many workers, and a death costs all of theirs.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from warmwire.errors import BackendUnavailableError, UsageError, error_for
from warmwire.host.failure import ModelError
from warmwire.host.generation.runner import AnyRequest, Outlet, too_late
from warmwire.host.workers.affinity import beginnings
from warmwire.host.workers.handle import NotStarted, WorkerProcess, WorkerState
from warmwire.host.workers.link import Failed
from warmwire.host.workers.segments import SegmentPool
from warmwire.models.interface import Capabilities, Finish
from warmwire.models.registry import parallel
from warmwire.system.cpus import cores
from warmwire.wire.generation.messages import Request
from warmwire.wire.generation.response import ResponseWriter

log = logging.getLogger("warmwire.host")


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """How patient a pool is, in seconds, and how large a worker may grow."""

    first_pause: float = 0.5
    """Before the second of several replacements in a row; it doubles each time."""
    longest_pause: float = 30.0
    cancel_grace: float = 10.0
    """For a model to notice a cancel before its process is killed."""
    late_grace: float = 1.0
    """The same when its time for the request is over: it may just have been too slow, and loading takes longer."""
    recycle_bytes: int = 2 << 30
    """Growth of resident memory since the model was loaded at which a worker is replaced after its request."""


class PoolView(NamedTuple):
    """What a pool holds at one moment, for whoever looks into it."""

    pids: frozenset[int]
    """Of workers whose models are loaded."""
    workers: int
    """Those that load included."""
    idle: int
    waiting: int
    """Requests without a worker."""
    failures: int
    """Replacements in a row without an answer."""
    segments: int
    segment_bytes: int
    """Shared memory kept for the next pages."""


class WorkerPool:
    """Runs requests on worker processes, first in first out. Implements `Runner`."""

    def __init__(
        self, model: str, workers: int = 1, threads: int | None = None, limits: PoolLimits | None = None
    ) -> None:
        self.name = model
        self.capabilities = Capabilities()
        self._parallel = 1
        with suppress(UsageError):  # a name that nobody knows is told of when it is loaded
            self._parallel = parallel(model)
        self._processes = workers
        self.workers = workers * self._parallel
        self._model = model
        self.threads: Final = threads or max(1, cores() // workers)
        """Threads that each worker may compute with."""

        self._limits: Final = limits or PoolLimits()
        self._segments = SegmentPool()
        self._idle: deque[WorkerProcess] = deque()
        self._waiting: deque[asyncio.Future[WorkerProcess]] = deque()
        self._all: set[WorkerProcess] = set()
        self._failures = self._loading = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Start all workers and wait until every model is loaded. Raises InputError with the model's own reason."""
        started = [asyncio.create_task(self._load()) for _ in range(self._processes)]
        try:
            for task in started:
                for worker in await task:
                    self._offer(worker)
        except BaseException:
            for task in started:
                task.cancel()
            await asyncio.gather(*started, return_exceptions=True)
            await self.close()
            raise

    def allocate(self, size: int) -> memoryview:
        return self._segments.allocate(size)

    def free(self, request: AnyRequest) -> None:
        for attachment in request.attachments if isinstance(request, Request) else ():
            self._segments.free(attachment.data)
            attachment.data = b""

    async def run(
        self, request: AnyRequest, writer: ResponseWriter, outlet: Outlet, timeout: float | None = None
    ) -> Finish:
        asked = beginnings(request) if self._processes > 1 else []
        worker = await self._acquire(asked)
        worker.known.add(asked)
        try:
            async with asyncio.timeout(timeout):
                last = await worker.answer(request, outlet)
        except NotStarted:
            return await self.run(request, writer, outlet, timeout)
        except asyncio.CancelledError:
            self._spawn(self._reclaim(worker, self._limits.cancel_grace))
            raise
        except TimeoutError:
            self._spawn(self._reclaim(worker, self._limits.late_grace))
            raise too_late(request, timeout) from None
        except BaseException:
            self._release(worker)
            raise
        self._failures = 0
        self._release(worker)
        if isinstance(last, Failed):
            raise error_for(last.code, last.message) if last.trace is None else ModelError(last.message, last.trace)
        writer.has_called = last.has_called
        return Finish(last.stop_reason, last.usage, last.report)

    def look(self) -> PoolView:
        """What there is now."""
        return PoolView(
            frozenset(worker.process.pid for worker in self._all if worker.ready.done()),
            len(self._all),
            len(self._idle),
            len(self._waiting),
            self._failures,
            self._segments.count,
            self._segments.bytes,
        )

    async def close(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        for worker in tuple(self._all):
            worker.kill()
            await worker.process.wait()
        self._all.clear()
        self._segments.close()

    # ------------------------------------------------------------------ turns

    async def _acquire(self, asked: list[int]) -> WorkerProcess:
        """An idle worker, the one that was asked most of these beginnings before; where there is none, wait for one."""
        while self._idle:
            worker = min(self._idle, key=lambda idle: (-idle.known.common(asked), _busy_beside(idle)))
            self._idle.remove(worker)
            if worker.alive and not worker.retired:
                return worker
        turn: asyncio.Future[WorkerProcess] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._release(turn.result())
            raise

    def _offer(self, worker: WorkerProcess) -> None:
        """Give an idle worker to whoever has waited longest."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(worker)
                return
        self._idle.append(worker)

    def _release(self, worker: WorkerProcess) -> None:
        """Take a worker back. A dead one is left to `_mourn`."""
        if not worker.alive:
            return
        if not worker.retired and worker.resident() - worker.loaded_bytes > self._limits.recycle_bytes:
            log.info("worker %d has grown to %d MB and is replaced", worker.process.pid, worker.resident() >> 20)
            for each in worker.crew:
                each.retired = True
        if not worker.retired:
            self._offer(worker)
        elif not _busy_beside(worker):
            worker.kill()

    async def _reclaim(self, worker: WorkerProcess, grace: float) -> None:
        """Make a worker whose request was cancelled usable again."""
        if await worker.cancelled(grace):
            self._release(worker)

    # ------------------------------------------------------------------ replacing

    async def _load(self) -> list[WorkerProcess]:
        """The workers of one more process, its model loaded. Raises InputError, BackendUnavailableError."""
        self._loading += 1
        try:
            crew = await self._load_one()
        finally:
            self._loading -= 1
        self._spawn(self._mourn(crew))
        return crew

    async def _load_one(self) -> list[WorkerProcess]:
        crew = await WorkerProcess.start(self._model, self.threads, self._parallel)
        self._all.update(crew)
        try:
            for worker in crew:
                await asyncio.wait({worker.ready, worker.gone}, return_when=asyncio.FIRST_COMPLETED)
                if not worker.ready.done():
                    raise BackendUnavailableError(f"a worker died while loading its model: {await worker.cause()}")
                self.name, self.capabilities = worker.ready.result()
                worker.loaded_bytes = worker.resident()  # a large model is large from the start
        except BaseException:
            self._all.difference_update(crew)
            for worker in crew:
                if worker.ready.done() and not worker.ready.cancelled():
                    worker.ready.exception()  # each has been told; one is asked
                worker.kill()
            await crew[0].process.wait()
            raise
        return crew

    async def _mourn(self, crew: list[WorkerProcess]) -> None:
        """Replace a process when it has ended, whatever it was doing. Nobody else does."""
        await asyncio.wait({worker.gone for worker in crew})
        self._all.difference_update(crew)
        for worker in crew:
            if worker in self._idle:
                self._idle.remove(worker)
        worker = crew[0]
        log.warning("worker %d ended: %s", worker.process.pid, await worker.cause())
        for attempt in itertools.count(self._failures):
            self._failures = attempt + 1
            if attempt:
                pause = min(self._limits.first_pause * 2 ** (attempt - 1), self._limits.longest_pause)
                if not self._all and not self._loading:
                    self._refuse_waiting(pause)
                await asyncio.sleep(pause)
            try:
                for fresh in await self._load():
                    self._offer(fresh)
                return
            except Exception as error:
                log.error("cannot replace a worker: %s", error)

    def _refuse_waiting(self, pause: float) -> None:
        """No worker is left and the next start may fail as well: waiting requests are better told."""
        error = BackendUnavailableError(f"every worker has died; the next is started in {pause:g} s")
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(error)

    def _spawn(self, coroutine: Any) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _busy_beside(worker: WorkerProcess) -> int:
    """How many workers of its process have a job: the one with the fewest is given the next."""
    return sum(each.state in (WorkerState.GIVEN, WorkerState.WORKING) for each in worker.crew)
