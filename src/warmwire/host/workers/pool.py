"""A pool of worker processes, each with its own model.

A model may leak, hang or crash; then it takes its process and one request with it and nothing else. A dead worker's
request gets `backend_unavailable`, the worker is replaced, and the pause before the next replacement doubles while
they keep dying without answering anything. A worker that has grown too large is replaced between two requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import signal
import socket
import sys
from collections import deque
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from warmwire.errors import BackendUnavailableError, InputError, error_for
from warmwire.host.failure import ModelError, Trace
from warmwire.host.generation.runner import AnyRequest, Outlet, too_late
from warmwire.host.workers.link import FAILED, READY, STARTED, Cancel, Job, encode
from warmwire.host.workers.segments import Segment, SegmentPool
from warmwire.models.interface import Capabilities, Finish
from warmwire.system.cpus import cores
from warmwire.wire.generation.frames import FrameReader, encode_frame
from warmwire.wire.generation.messages import FRAME_JSON, Request, Response, ResponseType, StopReason, Usage
from warmwire.wire.generation.request import without_blobs
from warmwire.wire.generation.response import ResponseWriter, decode_response
from warmwire.wire.tasks import EmbedRequest

log = logging.getLogger("warmwire.host")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_CANCEL_GRACE: Final = 10.0
"""Seconds a model gets to notice a cancel before its process is killed."""

_LATE_GRACE: Final = 1.0
"""Seconds it gets when its time for the request is over: it may just have been too slow, and loading takes longer."""

_EXIT_GRACE: Final = 2.0
"""Seconds a process gets to end after its link has."""

_RECYCLE_BYTES: Final = 2 << 30
"""Growth of resident memory since the model was loaded at which a worker is replaced after its request."""


class NotStarted(Exception):
    """The worker was dead before it got the job."""


class WorkerProcess(asyncio.BufferedProtocol):
    """One worker seen from the host: its process, and the link that its frames come in on."""

    def __init__(self, process: asyncio.subprocess.Process, link: socket.socket) -> None:
        self.process = process
        self._link = link
        self._reader = FrameReader()
        self._transport: asyncio.Transport
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[Any] = loop.create_future()
        self.gone: asyncio.Future[Any] = loop.create_future()
        self._number = 0
        self._outlet: Outlet | None = None
        self._done: asyncio.Future[Any] | None = None
        self._started = self._killed = False
        self.loaded_bytes = 0

    @classmethod
    async def start(cls, model: str, threads: int) -> WorkerProcess:
        """Start a process; `ready` resolves when its model is loaded."""
        ours, theirs = socket.socketpair()
        env = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    *(
                        sys.executable,
                        "-P",
                        "-m",
                        "warmwire.host.workers.process",
                        str(theirs.fileno()),
                        model,
                        str(threads),
                    ),
                    pass_fds=(theirs.fileno(),),
                    stdin=asyncio.subprocess.DEVNULL,
                    env=env,
                )
            ours.setblocking(False)
            loop = asyncio.get_running_loop()
            _, worker = await loop.create_connection(lambda: cls(process, ours), sock=ours)
        except BaseException:
            ours.close()
            raise
        return worker

    # ------------------------------------------------------------------ the link

    @property
    def alive(self) -> bool:
        """Whether it can be given work; False a moment before `gone`."""
        return not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._reader.get_buffer()

    def buffer_updated(self, nbytes: int) -> None:
        self._reader.buffer_updated(nbytes)
        while (frame := self._reader.next_frame()) is not None:
            if frame[0] == FRAME_JSON:
                self._take(decode_response(frame))
            elif self._outlet is not None:
                self._outlet.send(bytes(frame[1]))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.gone.done():
            self.gone.set_result(None)

    def _take(self, response: Response) -> None:
        if response.type == STARTED:
            self._started = True
        elif response.type == READY:
            self.ready.set_result((response.backend or "", msgspec.convert(response.report, Capabilities)))
        elif response.type == FAILED:
            self.ready.set_exception(InputError(response.message or "the model cannot be loaded"))
        elif self._done is not None and not self._done.done():
            self._done.set_result(response)

    # ------------------------------------------------------------------ jobs

    async def answer(self, request: AnyRequest, outlet: Outlet) -> Response:
        """Run one job and pass its frames on; returns its terminal.

        Raises BackendUnavailableError if the worker dies over it, NotStarted if it was dead already,
        FrameTooLargeError for a job that fits no frame.
        """
        self._number += 1
        self._started = False
        self._outlet = outlet
        self._done = asyncio.get_running_loop().create_future()
        outlet.on_pause, outlet.on_resume = self._transport.pause_reading, self._transport.resume_reading
        try:
            self._send_job(request)
            await asyncio.wait({self._done, self.gone}, return_when=asyncio.FIRST_COMPLETED)
            if self._done.done():
                response: Response = self._done.result()
                return response
            if not self._started:
                raise NotStarted
            raise BackendUnavailableError(
                f"the worker of this request (pid {self.process.pid}) died: {await self.cause()};"
                " it is being replaced, the request can be sent again"
            )
        finally:
            outlet.on_pause = outlet.on_resume = None
            self._outlet = None
            self._transport.resume_reading()  # the terminal may have come right behind the frame that made us pause

    def _send_job(self, request: AnyRequest) -> None:
        if not self.alive:  # it has died since it was acquired, and `gone` will say so
            return
        segments: list[Segment] = []
        if isinstance(request, Request):
            blobs = [memoryview(a.data) for a in request.attachments]
            segments = [view.obj for view in blobs if view.nbytes and isinstance(view.obj, Segment)]
            sizes = [view.nbytes if isinstance(view.obj, Segment) else 0 for view in blobs]
            job = Job(self._number, request=without_blobs(request), sizes=sizes)
        elif isinstance(request, EmbedRequest):
            job = Job(self._number, embed=request)
        else:
            job = Job(self._number, rerank=request)
        data = encode_frame(FRAME_JSON, encode(job))
        if segments:
            # An idle worker's link is empty, so this byte and the descriptors on it always fit.
            try:
                socket.send_fds(self._link, [data[:1]], [segment.fd for segment in segments])
            except OSError:  # the same
                self._transport.abort()
                return
            data = data[1:]
        self._transport.write(data)

    async def cancelled(self, grace: float) -> bool:
        """Tell the model to stop, and wait until it has; returns whether the worker is still alive."""
        assert self._done is not None
        if self.alive:
            self._transport.write(encode_frame(FRAME_JSON, encode(Cancel(self._number))))
        await asyncio.wait({self._done, self.gone}, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        if not self._done.done() and not self.gone.done():
            log.warning("worker %d did not stop within %g s and is killed", self.process.pid, grace)
            self.kill()
        return self._done.done() and self.alive

    # ------------------------------------------------------------------ the process

    async def cause(self) -> str:
        """Why the process has ended, in words."""
        try:
            status = await asyncio.wait_for(self.process.wait(), _EXIT_GRACE)
        except TimeoutError:
            self.kill()
            return "it stopped answering"
        if self._killed:
            return "ended by its host"
        if status == -signal.SIGKILL:
            return "killed by SIGKILL (out of memory?)"
        if status < 0:
            return f"killed by signal {-status} ({signal.strsignal(-status)})"
        return f"exit status {status}"

    def resident(self) -> int:
        """Bytes of memory the process holds, 0 where the system does not say."""
        try:
            pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
            return int(pages) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError, ValueError):
            return 0

    def kill(self) -> None:
        """End the process now."""
        self._killed = self.process.returncode is None
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self._transport.abort()


class WorkerPool:
    """Runs requests on worker processes, first in first out. Implements `Runner`."""

    def __init__(self, model: str, workers: int = 1, threads: int | None = None) -> None:
        self.name = model
        self.capabilities = Capabilities()
        self.workers = workers
        self._model = model
        self._threads = threads or max(1, cores() // workers)
        self._segments = SegmentPool()
        self._idle: deque[WorkerProcess] = deque()
        self._waiting: deque[asyncio.Future[WorkerProcess]] = deque()
        self._all: set[WorkerProcess] = set()
        self._failures = self._loading = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Start all workers and wait until every model is loaded. Raises InputError with the model's own reason."""
        started = [asyncio.create_task(self._load()) for _ in range(self.workers)]
        try:
            for task in started:
                self._offer(await task)
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
        worker = await self._acquire()
        try:
            async with asyncio.timeout(timeout):
                response = await worker.answer(request, outlet)
        except NotStarted:
            return await self.run(request, writer, outlet, timeout)
        except asyncio.CancelledError:
            self._spawn(self._reclaim(worker, _CANCEL_GRACE))
            raise
        except TimeoutError:
            self._spawn(self._reclaim(worker, _LATE_GRACE))
            raise too_late(request, timeout) from None
        except BaseException:
            self._release(worker)
            raise
        self._failures = 0
        self._release(worker)
        if response.type == ResponseType.ERROR:
            if response.report is not None:
                raise ModelError(response.message or "", msgspec.convert(response.report, Trace))
            raise error_for(response.code or "", response.message or "")
        writer.has_called = not response.tool_choice_unsatisfied
        return Finish(StopReason(response.stop_reason or "end_turn"), response.usage or Usage(), response.report)

    async def close(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        for worker in tuple(self._all):
            worker.kill()
            await worker.process.wait()
        self._all.clear()
        self._segments.close()

    # ------------------------------------------------------------------ turns

    async def _acquire(self) -> WorkerProcess:
        while self._idle:
            worker = self._idle.popleft()
            if worker.alive:
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
        if worker.resident() - worker.loaded_bytes > _RECYCLE_BYTES:
            log.info("worker %d has grown to %d MB and is replaced", worker.process.pid, worker.resident() >> 20)
            worker.kill()
        else:
            self._offer(worker)

    async def _reclaim(self, worker: WorkerProcess, grace: float) -> None:
        """Make a worker whose request was cancelled usable again."""
        if await worker.cancelled(grace):
            self._release(worker)

    # ------------------------------------------------------------------ replacing

    async def _load(self) -> WorkerProcess:
        """A worker with a loaded model. Raises InputError, BackendUnavailableError."""
        self._loading += 1
        try:
            worker = await self._load_one()
        finally:
            self._loading -= 1
        self._spawn(self._mourn(worker))
        return worker

    async def _load_one(self) -> WorkerProcess:
        worker = await WorkerProcess.start(self._model, self._threads)
        self._all.add(worker)
        try:
            await asyncio.wait({worker.ready, worker.gone}, return_when=asyncio.FIRST_COMPLETED)
            if not worker.ready.done():
                raise BackendUnavailableError(f"a worker died while loading its model: {await worker.cause()}")
            self.name, self.capabilities = worker.ready.result()
            worker.loaded_bytes = worker.resident()  # a large model is large from the start
        except BaseException:
            self._all.discard(worker)
            worker.kill()
            await worker.process.wait()
            raise
        return worker

    async def _mourn(self, worker: WorkerProcess) -> None:
        """Replace a worker when it has ended, whatever it was doing. Nobody else does."""
        await worker.gone
        self._all.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        log.warning("worker %d ended: %s", worker.process.pid, await worker.cause())
        for attempt in itertools.count(self._failures):
            self._failures = attempt + 1
            if attempt:
                pause = min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
                if not self._all and not self._loading:
                    self._refuse_waiting(pause)
                await asyncio.sleep(pause)
            try:
                self._offer(await self._load())
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
