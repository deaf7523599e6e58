"""Clients of both wires, for threads and for asyncio, and the engines that read pages through a host.

Names are loaded when they are first used: whoever reads a file with text of its own, or only catches an error, needs
neither asyncio nor a socket.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmwire.system.lazy import lazy

if TYPE_CHECKING:
    from warmwire.client.engine import Engine, Local, Recognition, RemoteEngine, dial
    from warmwire.client.generation.aio import AsyncClient, AsyncStream
    from warmwire.client.generation.sync import Client, Stream
    from warmwire.client.grall.aio import AsyncGrallClient, AsyncGrallStream
    from warmwire.client.grall.sync import GrallClient, GrallStream
    from warmwire.errors import (
        AttachmentError,
        BackendUnavailableError,
        CancelledError,
        DialError,
        EmbedUnsupportedError,
        ErrorCode,
        FrameTooLargeError,
        InputError,
        InternalError,
        InvalidRequestError,
        ListenError,
        ProtocolError,
        QueueFullError,
        RequestError,
        RerankUnsupportedError,
        StreamLostError,
        TimedOutError,
        ToolCallError,
        TruncatedError,
        UsageError,
        WarmwireError,
        WireVersionError,
    )
    from warmwire.media.images import image_attachment
    from warmwire.wire.admin import HostStatus
    from warmwire.wire.generation.messages import (
        MAX_ATTACHMENT_BYTES,
        MAX_ATTACHMENTS,
        MAX_FRAME,
        MAX_IMAGE_AXIS,
        PROMPT_PAGE,
        Attachment,
        Block,
        Message,
        OutBlock,
        Request,
        StopReason,
        Tool,
        Usage,
        image_block,
        text_block,
    )
    from warmwire.wire.generation.response import Answer
    from warmwire.wire.tasks import EmbedResponse, Ranked, RerankResponse

_HOMES = {
    "client.generation.aio": (
        "AsyncClient",
        "AsyncStream",
    ),
    "client.engine": (
        "Engine",
        "Local",
        "Recognition",
        "RemoteEngine",
        "dial",
    ),
    "client.grall.sync": (
        "GrallClient",
        "GrallStream",
    ),
    "client.grall.aio": (
        "AsyncGrallClient",
        "AsyncGrallStream",
    ),
    "client.generation.sync": (
        "Client",
        "Stream",
    ),
    "media.images": ("image_attachment",),
    "errors": (
        "AttachmentError",
        "BackendUnavailableError",
        "CancelledError",
        "DialError",
        "EmbedUnsupportedError",
        "ErrorCode",
        "FrameTooLargeError",
        "InputError",
        "InternalError",
        "InvalidRequestError",
        "ListenError",
        "ProtocolError",
        "QueueFullError",
        "RequestError",
        "RerankUnsupportedError",
        "StreamLostError",
        "TimedOutError",
        "ToolCallError",
        "TruncatedError",
        "UsageError",
        "WarmwireError",
        "WireVersionError",
    ),
    "wire.admin": ("HostStatus",),
    "wire.generation.messages": (
        "MAX_ATTACHMENT_BYTES",
        "MAX_ATTACHMENTS",
        "MAX_FRAME",
        "MAX_IMAGE_AXIS",
        "PROMPT_PAGE",
        "Attachment",
        "Block",
        "Message",
        "OutBlock",
        "Request",
        "StopReason",
        "Tool",
        "Usage",
        "image_block",
        "text_block",
    ),
    "wire.generation.response": ("Answer",),
    "wire.tasks": (
        "EmbedResponse",
        "Ranked",
        "RerankResponse",
    ),
}

__all__ = [
    "MAX_ATTACHMENTS",
    "MAX_ATTACHMENT_BYTES",
    "MAX_FRAME",
    "MAX_IMAGE_AXIS",
    "PROMPT_PAGE",
    "Answer",
    "AsyncClient",
    "AsyncGrallClient",
    "AsyncGrallStream",
    "AsyncStream",
    "Attachment",
    "AttachmentError",
    "BackendUnavailableError",
    "Block",
    "CancelledError",
    "Client",
    "DialError",
    "EmbedResponse",
    "EmbedUnsupportedError",
    "Engine",
    "ErrorCode",
    "FrameTooLargeError",
    "GrallClient",
    "GrallStream",
    "HostStatus",
    "InputError",
    "InternalError",
    "InvalidRequestError",
    "ListenError",
    "Local",
    "Message",
    "OutBlock",
    "ProtocolError",
    "QueueFullError",
    "Ranked",
    "Recognition",
    "RemoteEngine",
    "Request",
    "RequestError",
    "RerankResponse",
    "RerankUnsupportedError",
    "StopReason",
    "Stream",
    "StreamLostError",
    "TimedOutError",
    "Tool",
    "ToolCallError",
    "TruncatedError",
    "Usage",
    "UsageError",
    "WarmwireError",
    "WireVersionError",
    "dial",
    "image_attachment",
    "image_block",
    "text_block",
]


__getattr__, __dir__ = lazy(__name__, globals(), _HOMES)
