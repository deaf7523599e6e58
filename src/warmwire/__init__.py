"""A warm model behind a local socket.

    import warmwire

    doc = warmwire.read("scan.pdf")                # a PDF or a picture, read here
    print(doc.markdown())

    with warmwire.dial() as engine:                # a host started with `warmwire serve pages`
        text = engine.recognize(image)             # (height, width, 3) uint8 RGB -> DocTags

    with warmwire.listen("/tmp/my.sock") as listener:
        listener.serve_forever(handler)            # anything with `name` and `generate(...)`

Beside those for documents, the names here are those of the published `ipc` package in Python spelling. Names are
loaded when they are first used, so importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmwire.system.lazy import lazy

__version__ = "0.1.0"

if TYPE_CHECKING:
    from warmwire.client.engine import Engine, Local, Recognition, dial
    from warmwire.client.generation.aio import AsyncClient
    from warmwire.client.generation.sync import Client
    from warmwire.documents.result import Document
    from warmwire.errors import ErrorCode, InputError, UsageError, WarmwireError
    from warmwire.host.listener import Listener, listen, serve
    from warmwire.media.images import decode_image, image_attachment
    from warmwire.models.interface import Handler
    from warmwire.reader import AsyncReader, Reader, read
    from warmwire.transport.conn import Conn
    from warmwire.transport.paths import default_addr
    from warmwire.wire.generation.messages import (
        FRAME_BLOB,
        FRAME_JSON,
        MAX_FRAME,
        MAX_IMAGE_AXIS,
        PROMPT_PAGE,
        VERSION,
        Attachment,
        Block,
        Closer,
        Message,
        OutBlock,
        Request,
        Response,
        ResponseType,
        StopReason,
        Usage,
        image_block,
        text_block,
    )

_HOMES = {
    "client.generation.aio": ("AsyncClient",),
    "client.engine": ("Engine", "Local", "Recognition", "dial"),
    "client.generation.sync": ("Client",),
    "documents.result": ("Document",),
    "host.listener": ("Listener", "listen", "serve"),
    "models.interface": ("Handler",),
    "media.images": ("decode_image", "image_attachment"),
    "reader": ("AsyncReader", "Reader", "read"),
    "transport.conn": ("Conn",),
    "transport.paths": ("default_addr",),
    "errors": ("ErrorCode", "InputError", "UsageError", "WarmwireError"),
    "wire.generation.messages": (
        "FRAME_BLOB",
        "FRAME_JSON",
        "MAX_FRAME",
        "MAX_IMAGE_AXIS",
        "PROMPT_PAGE",
        "VERSION",
        "Attachment",
        "Block",
        "Closer",
        "Message",
        "OutBlock",
        "Request",
        "Response",
        "ResponseType",
        "StopReason",
        "Usage",
        "image_block",
        "text_block",
    ),
}

__all__ = [
    "FRAME_BLOB",
    "FRAME_JSON",
    "MAX_FRAME",
    "MAX_IMAGE_AXIS",
    "PROMPT_PAGE",
    "VERSION",
    "AsyncClient",
    "AsyncReader",
    "Attachment",
    "Block",
    "Client",
    "Closer",
    "Conn",
    "Document",
    "Engine",
    "ErrorCode",
    "Handler",
    "InputError",
    "Listener",
    "Local",
    "Message",
    "OutBlock",
    "Reader",
    "Recognition",
    "Request",
    "Response",
    "ResponseType",
    "StopReason",
    "Usage",
    "UsageError",
    "WarmwireError",
    "decode_image",
    "default_addr",
    "dial",
    "image_attachment",
    "image_block",
    "listen",
    "read",
    "serve",
    "text_block",
]


__getattr__, __dir__ = lazy(__name__, globals(), _HOMES)
