"""The sessions of the wires that a model answers on: generation, and one line a request for embeddings and rerank."""

from __future__ import annotations

from collections.abc import Callable

from warmwire.errors import ErrorCode, sendable
from warmwire.host.generation.connection import Connection
from warmwire.host.generation.owner import Owner
from warmwire.models.interface import Finish
from warmwire.transport.paths import Surface
from warmwire.wire.generation.messages import Request
from warmwire.wire.generation.request import RequestReader
from warmwire.wire.generation.response import ResponseWriter
from warmwire.wire.generation.validate import validate
from warmwire.wire.tasks import EmbedRequest, RerankRequest, TaskError, TaskReader, TaskRequest, encode_line


class GenerationSession(Connection[Request]):
    """The generation wire. Blobs are received straight into the runner's buffers."""

    def __init__(self, host: Owner, reader: RequestReader | None = None) -> None:
        super().__init__(host, reader or RequestReader(host.runner.allocate))

    surface = "generation"

    async def answer(self, request: Request) -> Finish:
        writer = ResponseWriter.to(request)
        validate(request)
        with self._host.admit():
            finish = await self._host.runner.run(request, writer, self, self._host.request_timeout)
            self.end(writer.done(finish.stop_reason, finish.usage, self._host.runner.name, finish.report))
            await self.flushed()  # the place in the queue is held until the client has its answer
        return finish

    def measure(self, request: Request) -> dict[str, int]:
        return {"n_attachments": len(request.attachments), "n_tools": len(request.tools)}

    def error(self, request_id: str, code: ErrorCode, message: str) -> bytes:
        return ResponseWriter(request_id).error(code, message)


class _LineAnswer:
    """Takes the one line of an answer in, to be sent when the model has ended: a client that has its answer and leaves
    must not look like one that gave up."""

    paused = False
    on_pause: Callable[[], None] | None = None
    on_resume: Callable[[], None] | None = None

    def __init__(self) -> None:
        self.data = b""

    def send(self, data: bytes | bytearray) -> None:
        self.data += data


class TaskSession(Connection[TaskRequest]):
    """Embeddings or rerank."""

    def __init__(self, host: Owner, surface: Surface) -> None:
        embed = surface is Surface.EMBEDDINGS
        super().__init__(host, TaskReader(EmbedRequest if embed else RerankRequest))
        self.surface = "embeddings" if embed else "rerank"

    async def answer(self, request: TaskRequest) -> Finish:
        request.validate()
        with self._host.admit():
            line = _LineAnswer()
            finish = await self._host.runner.run(request, ResponseWriter(request.id), line, self._host.request_timeout)
            self.end(line.data)
            await self.flushed()
        return finish

    def measure(self, request: TaskRequest) -> dict[str, int]:
        if isinstance(request, EmbedRequest):
            return {"n_inputs": len(request.input)}
        return {"n_documents": len(request.documents)}

    def error(self, request_id: str, code: ErrorCode, message: str) -> bytes:
        return encode_line(TaskError(request_id, code, sendable(message)))
