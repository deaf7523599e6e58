"""Clients of the wires, sync and async, and the page engines."""

from warmwire.client.aio import AsyncClient, AsyncStream
from warmwire.client.engine import Engine, Local, Recognition, RemoteEngine, dial
from warmwire.client.grall import GrallClient, GrallStream
from warmwire.client.grall_aio import AsyncGrallClient, AsyncGrallStream
from warmwire.client.sync import Client, Stream
from warmwire.wire.errors import (
    AttachmentError,
    BackendUnavailableError,
    CancelledError,
    DialError,
    ErrorCode,
    FrameTooLargeError,
    InputError,
    InternalError,
    InvalidRequestError,
    ProtocolError,
    QueueFullError,
    RequestError,
    StreamLostError,
    TruncatedError,
    UsageError,
    WarmwireError,
    WireVersionError,
)
from warmwire.wire.messages import MAX_IMAGE_AXIS, PROMPT_PAGE

__all__ = [
    "MAX_IMAGE_AXIS",
    "PROMPT_PAGE",
    "AsyncClient",
    "AsyncGrallClient",
    "AsyncGrallStream",
    "AsyncStream",
    "AttachmentError",
    "BackendUnavailableError",
    "CancelledError",
    "Client",
    "DialError",
    "Engine",
    "ErrorCode",
    "FrameTooLargeError",
    "GrallClient",
    "GrallStream",
    "InputError",
    "InternalError",
    "InvalidRequestError",
    "Local",
    "ProtocolError",
    "QueueFullError",
    "Recognition",
    "RemoteEngine",
    "RequestError",
    "Stream",
    "StreamLostError",
    "TruncatedError",
    "UsageError",
    "WarmwireError",
    "WireVersionError",
    "dial",
]
