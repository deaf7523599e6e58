"""The exceptions that warmwire raises on purpose, with their wire codes and exit statuses.

    WarmwireError
    ├── UsageError                    the call itself is wrong                          exit 2
    ├── InputError                    a file cannot be read or is not what it claims    exit 1
    ├── ProtocolError                 the peer broke the framing; the stream is lost    invalid_request
    │   └── FrameTooLargeError        a declared length is over its cap                 frame_too_large
    ├── RequestError                  one request failed; the connection lives on       (its own code)
    │   ├── InvalidRequestError       invalid_request
    │   ├── WireVersionError          wire_version_unsupported
    │   ├── AttachmentError           attachment_unsupported
    │   ├── ToolCallError             tool_call_malformed
    │   ├── QueueFullError            queue_full
    │   ├── BackendUnavailableError   backend_unavailable
    │   ├── InternalError             internal
    │   ├── EmbedUnsupportedError     embed_unsupported
    │   └── RerankUnsupportedError    rerank_unsupported
    ├── TruncatedError                the answer ran into `max_tokens`
    ├── StreamLostError               the connection ended before the answer did
    ├── CancelledError                this side gave the request up
    ├── TimedOutError                 the answer was not whole in the time it was given, and was cancelled
    ├── DialError                     nobody answers at an address
    └── ListenError                   an address cannot be served

The same classes serve both sides: a host raises them to choose the wire code, a client raises them for the code it
received. `partial` holds the text that had arrived when a request failed, so that nothing is lost.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Final


class ErrorCode(StrEnum):
    """The error codes of the generation wire and its neighbours."""

    QUEUE_FULL = "queue_full"
    BACKEND_UNAVAILABLE = "backend_unavailable"
    INVALID_REQUEST = "invalid_request"
    FRAME_TOO_LARGE = "frame_too_large"
    INTERNAL = "internal"
    ATTACHMENT_UNSUPPORTED = "attachment_unsupported"
    TOOL_CALL_MALFORMED = "tool_call_malformed"
    WIRE_VERSION_UNSUPPORTED = "wire_version_unsupported"
    EMBED_UNSUPPORTED = "embed_unsupported"
    RERANK_UNSUPPORTED = "rerank_unsupported"


class WarmwireError(Exception):
    """Any of these. `code` is what the wire calls it, `exit_status` what a command returns for it."""

    code: ClassVar[ErrorCode] = ErrorCode.INTERNAL
    exit_status: ClassVar[int] = 1

    def __init__(self, message: str, *, partial: str = "") -> None:
        super().__init__(message)
        self.partial = partial


class UsageError(WarmwireError):
    """The call itself is wrong: an option, a value or a combination that cannot be meant."""

    code = ErrorCode.INVALID_REQUEST
    exit_status = 2


class InputError(WarmwireError):
    """A file cannot be read, or is not what it claims to be."""

    code = ErrorCode.INVALID_REQUEST


class ProtocolError(WarmwireError):
    """The other side broke the framing: where the next message starts is unknown, so the connection is closed."""

    code = ErrorCode.INVALID_REQUEST


class FrameTooLargeError(ProtocolError):
    """A declared length is over its cap; nothing was allocated for it."""

    code = ErrorCode.FRAME_TOO_LARGE


class RequestError(WarmwireError):
    """One request failed, and the connection can carry the next one."""


class InvalidRequestError(RequestError):
    """The request can be read and is wrong; sending it again will not help."""

    code = ErrorCode.INVALID_REQUEST


class WireVersionError(RequestError):
    """The request asks for a version of the wire that the host does not speak."""

    code = ErrorCode.WIRE_VERSION_UNSUPPORTED


class AttachmentError(RequestError):
    """The model takes no such attachment: a picture without vision, sound without ears, any video."""

    code = ErrorCode.ATTACHMENT_UNSUPPORTED


class ToolCallError(RequestError):
    """The model called a tool in a way that cannot be read."""

    code = ErrorCode.TOOL_CALL_MALFORMED


class QueueFullError(RequestError):
    """All workers are busy and the queue is full; try again later."""

    code = ErrorCode.QUEUE_FULL


class BackendUnavailableError(RequestError):
    """The model is not there: it loads, its worker died, or the host is shutting down. Try again."""

    code = ErrorCode.BACKEND_UNAVAILABLE


class InternalError(RequestError):
    """The model failed, or took longer than the host allows."""

    code = ErrorCode.INTERNAL


class EmbedUnsupportedError(RequestError):
    """The model of this host does not make embeddings."""

    code = ErrorCode.EMBED_UNSUPPORTED


class RerankUnsupportedError(RequestError):
    """The model of this host does not rank texts."""

    code = ErrorCode.RERANK_UNSUPPORTED


class TruncatedError(WarmwireError):
    """The answer ran into `max_tokens`; `partial` is the answer so far."""


class StreamLostError(WarmwireError):
    """The connection ended before the answer did; `partial` is the answer so far."""

    code = ErrorCode.BACKEND_UNAVAILABLE


class CancelledError(WarmwireError):
    """This side cancelled the request; `partial` is the answer so far."""

    exit_status = 130


class TimedOutError(WarmwireError):
    """The answer took longer than this side allowed, and was cancelled; `partial` is what had come."""


class DialError(WarmwireError):
    """Nobody answers at an address; the message names the path, the reason and what to do."""

    code = ErrorCode.BACKEND_UNAVAILABLE


class ListenError(WarmwireError):
    """An address cannot be listened at; the message names the path, the reason and what to do."""


_MAX_MESSAGE: Final = 4096
"""Longest error message sent, characters."""


def sendable(message: str) -> str:
    """A message fit for the wire: it may quote what a client sent, of any length and with no UTF-8 of its own."""
    return message[:_MAX_MESSAGE].encode("utf-8", "replace").decode()


_BY_CODE: dict[str, type[WarmwireError]] = {
    cls.code: cls
    for cls in (
        InvalidRequestError,
        WireVersionError,
        AttachmentError,
        ToolCallError,
        QueueFullError,
        BackendUnavailableError,
        InternalError,
        EmbedUnsupportedError,
        RerankUnsupportedError,
        FrameTooLargeError,
    )
}


def error_for(code: str, message: str, *, partial: str = "") -> WarmwireError:
    """The exception for an error frame. An unknown code becomes a plain `RequestError` that names it."""
    cls = _BY_CODE.get(code)
    if cls is None:
        return RequestError(f"{message} ({code})", partial=partial)
    return cls(message, partial=partial)
