"""The messages of the embeddings and rerank sockets: one request and one answer a line.

Checks come in inferd's order, the first failure wins. What fails to decode has no id to echo and ends the connection;
what decodes and is wrong is answered under its id.
"""

from __future__ import annotations

from typing import Final

import msgspec

from warmwire.errors import FrameTooLargeError, InvalidRequestError, ProtocolError
from warmwire.wire.generation.messages import MAX_FRAME, U32, RequestId
from warmwire.wire.lines import LineReader

MAX_DOCUMENTS: Final = 256
"""Most documents of one rerank request."""

MAX_RERANK_BYTES: Final = 8 << 20
"""Most bytes of UTF-8 of one rerank request, query and documents together."""

EMBED_TASKS: Final = (
    "retrieval_query",
    "retrieval_document",
    "similarity",
    "classification",
    "clustering",
    "question_answering",
    "fact_verification",
    "code_retrieval_query",
)
"""What an embedding is for; a model may prefix the text accordingly."""


class TaskUsage(msgspec.Struct):
    """Tokens read, as the model counts them."""

    input_tokens: int = 0


class EmbedRequest(msgspec.Struct, omit_defaults=True):
    """Texts to embed; `dimensions` cuts the vectors, `task` is one of `EMBED_TASKS`."""

    input: list[str]
    id: RequestId = ""
    dimensions: U32 | None = None
    task: str | None = None

    def validate(self) -> None:
        """Raises InvalidRequestError."""
        if not self.input:
            raise InvalidRequestError("input must not be empty")
        for i, text in enumerate(self.input):
            if not text:
                raise InvalidRequestError(f"input[{i}] must not be empty")
        if self.task is not None and self.task not in EMBED_TASKS:
            raise InvalidRequestError(f"task uses an unknown variant: {self.task!r}")
        if self.dimensions == 0:
            raise InvalidRequestError("dimensions must be greater than zero when set")


class EmbedResponse(msgspec.Struct, tag="embeddings"):
    """One vector for each text, in order."""

    id: str
    embeddings: list[list[float]]
    dimensions: int
    model: str
    usage: TaskUsage
    backend: str


class RerankRequest(msgspec.Struct, omit_defaults=True):
    """Documents to rank by how well they answer `query`; `top_n` keeps the best."""

    query: str
    documents: list[str]
    id: RequestId = ""
    top_n: U32 | None = None

    def validate(self) -> None:
        """Raises InvalidRequestError."""
        if not self.query:
            raise InvalidRequestError("query must not be empty")
        if not self.documents:
            raise InvalidRequestError("documents must not be empty")
        if len(self.documents) > MAX_DOCUMENTS:
            raise InvalidRequestError(
                f"request carries {len(self.documents)} documents; at most {MAX_DOCUMENTS} allowed"
            )
        for i, document in enumerate(self.documents):
            if not document:
                raise InvalidRequestError(f"documents[{i}] must not be empty")
        size = len(self.query.encode()) + sum(len(document.encode()) for document in self.documents)
        if size > MAX_RERANK_BYTES:
            raise InvalidRequestError(f"query and documents are {size} bytes; at most {MAX_RERANK_BYTES} allowed")
        if self.top_n == 0:
            raise InvalidRequestError("top_n must be greater than zero when set")


class Ranked(msgspec.Struct):
    """One document: its place in the request and the model's raw score."""

    index: int
    score: float


class RerankResponse(msgspec.Struct, tag="rerank"):
    """Documents, best first; equal scores keep the order of the request."""

    id: str
    results: list[Ranked]
    model: str
    usage: TaskUsage
    backend: str


class TaskError(msgspec.Struct, tag="error"):
    """A request that failed."""

    id: str
    code: str
    message: str


TaskRequest = EmbedRequest | RerankRequest
TaskResponse = EmbedResponse | RerankResponse

_encode: Final = msgspec.json.Encoder().encode
_decode_response: Final = msgspec.json.Decoder(EmbedResponse | RerankResponse | TaskError).decode


def encode_line(message: TaskRequest | TaskResponse | TaskError) -> bytes:
    """A message as one line. Raises FrameTooLargeError, and InvalidRequestError for text that has no UTF-8."""
    try:
        line = _encode(message)
    except UnicodeEncodeError as error:
        raise InvalidRequestError(f"a text cannot be sent: {error}") from None
    if len(line) >= MAX_FRAME:
        raise FrameTooLargeError(f"line of {len(line)} bytes exceeds {MAX_FRAME} byte cap")
    return line + b"\n"


class TaskReader:
    """Turns received bytes into requests of one kind; sans-I/O like `RequestReader`."""

    request_id = ""
    """What fails to decode has no id to echo."""

    def __init__(self, kind: type[EmbedRequest] | type[RerankRequest]) -> None:
        self._decode = msgspec.json.Decoder(kind).decode
        self._lines = LineReader()
        self.get_buffer = self._lines.get_buffer
        self.buffer_updated = self._lines.buffer_updated
        self.receive_eof = self._lines.receive_eof

    @property
    def unfinished(self) -> bool:
        """Whether a part of a line has been received, and not all of it."""
        return self._lines.in_line

    def next_request(self) -> TaskRequest | None:
        """The next request, or None when more bytes are needed.

        Raises ProtocolError or FrameTooLargeError; the connection must then be closed.
        """
        line = self._lines.next_line()
        if line is None:
            return None
        try:
            return self._decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ProtocolError(f"decode: {error}") from None

    def abandon(self) -> None:
        """A line has no parts to give back."""


def decode_task_response(line: bytes) -> TaskResponse | TaskError:
    """The response in a line. Raises ProtocolError."""
    try:
        response: TaskResponse | TaskError = _decode_response(line)
        return response
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"the host sent a line that cannot be read: {error}") from None
