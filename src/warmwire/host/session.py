"""The sessions of the wires that a model answers on: generation, and one line a request for embeddings and rerank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmwire.host.connection import Connection
from warmwire.wire.errors import ErrorCode, sendable
from warmwire.wire.messages import Request
from warmwire.wire.request import RequestReader
from warmwire.wire.response import ResponseWriter
from warmwire.wire.tasks import TaskError, TaskReader, TaskRequest, encode_line
from warmwire.wire.validate import validate

if TYPE_CHECKING:
    from warmwire.host.server import Host


class Session(Connection[Request]):
    """The generation wire. Blobs are received straight into the runner's buffers."""

    def __init__(self, host: Host, reader: RequestReader | None = None) -> None:
        super().__init__(host, reader or RequestReader(host.runner.allocate))

    async def answer(self, request: Request) -> None:
        writer = ResponseWriter.to(request)
        validate(request)
        with self._host.admit():
            finish = await self._host.runner.run(request, writer, self)
            self.send(writer.done(finish.stop_reason, finish.usage, self._host.runner.name, finish.report))
            await self.flushed()  # the place in the queue is held until the client has its answer

    def error(self, request_id: str, code: ErrorCode, message: str) -> bytes:
        return ResponseWriter(request_id).error(code, message)


class TaskSession(Connection[TaskRequest]):
    """Embeddings or rerank, as the reader's requests are."""

    def __init__(self, host: Host, reader: TaskReader) -> None:
        super().__init__(host, reader)

    async def answer(self, request: TaskRequest) -> None:
        request.validate()
        with self._host.admit():
            await self._host.runner.run(request, ResponseWriter(request.id), self)
            await self.flushed()

    def error(self, request_id: str, code: ErrorCode, message: str) -> bytes:
        return encode_line(TaskError(request_id, code, sendable(message)))
