"""The host of the generation wire: one model, its sockets, many sessions.

Order matters: load first, bind last, because a successful connect is this protocol's readiness signal. Admission is
one bound over everything outstanding (running and queued); the runner takes requests first in, first out.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from warmwire.errors import BackendUnavailableError, QueueFullError
from warmwire.host.base import SHUTTING_DOWN, Activity, BaseHost
from warmwire.host.defaults import MAX_PARTIAL, PAGE_TIMEOUT, QUEUE_DEPTH, READ_TIMEOUT, WRITE_TIMEOUT
from warmwire.host.generation.connection import Connection
from warmwire.host.generation.runner import Runner
from warmwire.host.generation.session import GenerationSession, TaskSession
from warmwire.models.interface import Capabilities
from warmwire.transport.paths import Surface
from warmwire.wire.generation.request import RequestReader


class Host(BaseHost[Connection[Any]]):
    """Serves one runner to many connections."""

    speaks: ClassVar = "generation"

    def __init__(
        self,
        runner: Runner,
        *,
        queue_depth: int = QUEUE_DEPTH,
        write_timeout: float = WRITE_TIMEOUT,
        request_timeout: float | None = None,
        read_timeout: float = READ_TIMEOUT,
        max_partial: int = MAX_PARTIAL,
    ) -> None:
        super().__init__(Activity(runner.workers, runner.workers + queue_depth))
        self.runner = runner
        self.write_timeout = write_timeout
        self.read_timeout = read_timeout
        self.max_partial = max_partial
        self.partial = 0
        """Bytes of requests that have arrived in part."""
        self._request_timeout = request_timeout

    @property
    def name(self) -> str:
        return self.runner.name

    @property
    def capabilities(self) -> Capabilities:
        return self.runner.capabilities

    def beside(self) -> Mapping[Surface, bool]:
        return {Surface.EMBEDDINGS: self.capabilities.embed, Surface.RERANK: self.capabilities.rerank}

    async def start(self) -> None:
        await self.runner.start()

    @property
    def request_timeout(self) -> float | None:
        """Seconds that a model gets for a request; None: any number."""
        if self._request_timeout is None:
            return PAGE_TIMEOUT if self.runner.capabilities.pages else None
        return self._request_timeout or None

    @contextlib.contextmanager
    def admit(self) -> Iterator[None]:
        """Hold a place while a request is outstanding. Raises QueueFullError, BackendUnavailableError."""
        if self.draining:
            raise BackendUnavailableError(f"admission closed: {SHUTTING_DOWN}")
        activity = self.activity
        if activity.outstanding >= activity.capacity:
            activity.refused += 1
            raise QueueFullError(f"queue full: {activity.outstanding} requests run or wait; try again later")
        self.begin()
        try:
            yield
            activity.answered += 1
        finally:
            self.end()

    async def adopt(
        self, sock: socket.socket, surface: Surface = Surface.GENERATION, reader: RequestReader | None = None
    ) -> Connection[Any]:
        """Serve a connected socket; `reader` may already hold bytes of it."""
        sock.setblocking(False)

        def make() -> Connection[Any]:
            if surface is Surface.GENERATION:
                return GenerationSession(self, reader)
            return TaskSession(self, surface)

        _, session = await asyncio.get_running_loop().connect_accepted_socket(make, sock)
        return session

    async def close(self) -> None:
        """Drop every connection and stop the model. An answer under way ends with an error, as every answer ends."""
        await super().close()
        await self.runner.close()
