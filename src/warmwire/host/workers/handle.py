"""One worker as the host sees it: its process, and the link on which its messages and answers come.

A process whose model answers several requests at once has several links, and each is a worker: with a job, a state and
a flow of its own, so one slow client holds up nobody else. They are loaded, lost and replaced together.

LOADING ──LOADED──▶ IDLE ◀──ENDED── WORKING
                     └──GIVEN─▶ GIVEN ──STARTED──▲      any of them: LOST ─▶ GONE
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from warmwire.errors import BackendUnavailableError, InputError
from warmwire.host.generation.runner import AnyRequest, Outlet
from warmwire.host.states import Table, after
from warmwire.host.workers.affinity import Known
from warmwire.host.workers.link import (
    Cancel,
    Done,
    Failed,
    FromWorker,
    Ready,
    Started,
    Unable,
    WorkerJob,
    decode_from_worker,
    encode_message,
)
from warmwire.host.workers.segments import Segment
from warmwire.models.interface import Capabilities
from warmwire.wire.generation.frames import FrameReader
from warmwire.wire.generation.messages import FRAME_JSON, Request
from warmwire.wire.generation.request import without_blobs
from warmwire.wire.tasks import EmbedRequest

log = logging.getLogger("warmwire.host")

_EXIT_GRACE: Final = 2.0
"""Seconds a process gets to end after its link has."""


class WorkerState(Enum):
    LOADING = auto()
    IDLE = auto()
    GIVEN = auto()
    """A job has been sent; the model may not have seen it."""
    WORKING = auto()
    GONE = auto()


class WorkerEvent(Enum):
    LOADED = auto()
    GIVEN = auto()
    STARTED = auto()
    ENDED = auto()
    LOST = auto()


WORKER: Final[Table[WorkerState, WorkerEvent]] = {
    WorkerState.LOADING: {WorkerEvent.LOADED: WorkerState.IDLE, WorkerEvent.LOST: WorkerState.GONE},
    WorkerState.IDLE: {WorkerEvent.GIVEN: WorkerState.GIVEN, WorkerEvent.LOST: WorkerState.GONE},
    WorkerState.GIVEN: {WorkerEvent.STARTED: WorkerState.WORKING, WorkerEvent.LOST: WorkerState.GONE},
    WorkerState.WORKING: {WorkerEvent.ENDED: WorkerState.IDLE, WorkerEvent.LOST: WorkerState.GONE},
    WorkerState.GONE: {},
}


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
        self.ready: asyncio.Future[tuple[str, Capabilities]] = loop.create_future()
        self.gone: asyncio.Future[Any] = loop.create_future()
        self._number = 0
        self._outlet: Outlet | None = None
        self._done: asyncio.Future[Any] | None = None
        self.state = WorkerState.LOADING
        self._lost_in = WorkerState.LOADING
        """What it was doing when it was lost."""
        self._killed = False
        self.loaded_bytes = 0
        self.crew: list[WorkerProcess] = [self]
        """All workers of the process."""
        self.known = Known()
        """What its process was asked last; all workers of the process have the same."""
        self.retired = False
        """Its process is given no more jobs, and ends when the last one has."""

    @classmethod
    async def start(cls, model: str, threads: int, parallel: int = 1) -> list[WorkerProcess]:
        """Start a process with so many links; `ready` of each resolves when its model is loaded."""
        pairs = [socket.socketpair() for _ in range(parallel)]
        env = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
        fds = [theirs.fileno() for _, theirs in pairs]
        command = [sys.executable, "-P", "-m", "warmwire.host.workers.process", ",".join(map(str, fds)), model]
        crew: list[WorkerProcess] = []
        try:
            process = await asyncio.create_subprocess_exec(
                *command, str(threads), pass_fds=fds, stdin=asyncio.subprocess.DEVNULL, env=env
            )
            loop = asyncio.get_running_loop()
            for ours, _ in pairs:
                ours.setblocking(False)
                crew.append((await loop.create_connection(partial(cls, process, ours), sock=ours))[1])
        except BaseException:
            for ours, _ in pairs:
                ours.close()
            raise
        finally:
            for _, theirs in pairs:
                theirs.close()
        for worker in crew:
            worker.crew, worker.known = crew, crew[0].known
        return crew

    # ------------------------------------------------------------------ the link

    @property
    def alive(self) -> bool:
        """Whether it can be given work; False a moment before `gone`."""
        return self.state is not WorkerState.GONE and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._reader.get_buffer()

    def buffer_updated(self, nbytes: int) -> None:
        self._reader.buffer_updated(nbytes)
        while (frame := self._reader.next_frame()) is not None:
            if frame[0] == FRAME_JSON:
                self._take(decode_from_worker(frame[1]))
            elif self._outlet is not None:
                self._outlet.send(frame[1])

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost_in = self.state
        self._move(WorkerEvent.LOST)
        if not self.gone.done():
            self.gone.set_result(None)

    def _move(self, event: WorkerEvent) -> None:
        self.state = after(WORKER, self.state, event)

    def _take(self, message: FromWorker) -> None:
        match message:
            case Started():
                self._move(WorkerEvent.STARTED)
            case Ready(name, capabilities):
                self._move(WorkerEvent.LOADED)
                self.ready.set_result((name, capabilities))
            case Unable(why):
                self.ready.set_exception(InputError(why))
            case Done() | Failed():
                self._move(WorkerEvent.ENDED)
                if self._done is not None and not self._done.done():
                    self._done.set_result(message)

    # ------------------------------------------------------------------ jobs

    async def answer(self, request: AnyRequest, outlet: Outlet) -> Done | Failed:
        """Run one job and pass its answer on; returns how it ended.

        Raises BackendUnavailableError if the worker dies over it, NotStarted if it was dead already,
        FrameTooLargeError for a job that fits no frame.
        """
        self._number += 1
        self._outlet = outlet
        self._done = asyncio.get_running_loop().create_future()
        outlet.on_pause, outlet.on_resume = self._transport.pause_reading, self._transport.resume_reading
        try:
            self._send_job(request)
            await asyncio.wait({self._done, self.gone}, return_when=asyncio.FIRST_COMPLETED)
            if self._done.done():
                last: Done | Failed = self._done.result()
                return last
            if self._lost_in is not WorkerState.WORKING:
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
            job = WorkerJob(self._number, request=without_blobs(request), sizes=sizes)
        elif isinstance(request, EmbedRequest):
            job = WorkerJob(self._number, embed=request)
        else:
            job = WorkerJob(self._number, rerank=request)
        data = encode_message(job)
        self._move(WorkerEvent.GIVEN)
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
            self._transport.write(encode_message(Cancel(self._number)))
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
        for worker in self.crew:
            worker._killed = self.process.returncode is None
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self._transport.abort()
