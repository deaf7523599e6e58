"""The messages of the generation wire, as JSON sees them.

Unknown keys are ignored when reading and absent values are left out when writing, so that either side may be newer
than the other. Field order is the order of the bytes; it follows the Go `ipc` package, whose requests these reproduce
byte for byte. What the types cannot say (unique ids, references, caps) is in `validate`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Protocol, runtime_checkable

import msgspec

VERSION: Final = 1
"""The wire version carried by every request."""

MAX_FRAME: Final = 64 << 20
"""Largest payload of one frame, bytes."""

MAX_IMAGE_AXIS: Final = 1 << 16
"""Largest width or height of an image, pixels."""

MAX_ATTACHMENTS: Final = 32
"""Most attachments of one request."""

MAX_ATTACHMENT_BYTES: Final = 128 << 20
"""Most bytes of all blobs of one request, charged as declared."""

FRAME_JSON: Final = 0x01
FRAME_BLOB: Final = 0x02

PROMPT_PAGE: Final = "Convert this page to docling."
"""The prompt that asks a page model for DocTags."""


class ResponseType(StrEnum):
    FRAME = "frame"
    DONE = "done"
    ERROR = "error"


class StopReason(StrEnum):
    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    TOOL_USE = "tool_use"
    STOP_SEQUENCE = "stop_sequence"
    CANCELLED = "cancelled"
    ERROR = "error"


U32 = Annotated[int, msgspec.Meta(ge=0, le=(1 << 32) - 1)]

RequestId = Annotated[str, msgspec.Meta(max_length=1 << 16)]
"""Every frame of an answer repeats it, so a host bounds it; the wire itself does not."""


class Attachment(msgspec.Struct, omit_defaults=True):
    """One binary payload: metadata here, the bytes in `data`, which travel in a blob frame and never in the JSON.

    `kind` is image (`width` and `height` in pixels, interleaved RGB), audio (`sample_rate` in Hz, little-endian
    float32 mono) or video (refused by every known host).
    """

    kind: str
    id: str
    width: U32 | None = None
    height: U32 | None = None
    sample_rate: U32 | None = None
    data: Any = b""

    def __repr__(self) -> str:
        """With the size of `data` only: a page has ten million bytes of it."""
        shown = ", ".join(f"{name}={value!r}" for name, value in msgspec.structs.asdict(self).items() if name != "data")
        return f"Attachment({shown}, data=<{memoryview(self.data).nbytes} bytes>)"


class Block(msgspec.Struct, omit_defaults=True):
    """One piece of a message; `type` decides which of the other fields mean something.

    text{text} · image, audio, video{attachment_id} · tool_use{tool_call_id, name, input} ·
    tool_result{tool_call_id, content}. An unknown type is kept: only a host that would have to use it refuses.
    """

    type: str
    text: str | None = None
    attachment_id: str | None = None
    tool_call_id: str | None = None
    name: str | None = None
    input: Any = msgspec.UNSET
    content: list[Block] | None = None


class Message(msgspec.Struct):
    """One turn of a conversation; `content` may not be empty."""

    role: Literal["system", "user", "assistant"]
    content: list[Block]


class Tool(msgspec.Struct):
    """A function the model may call; `input_schema` is a JSON schema."""

    name: str
    description: str = ""
    input_schema: Any = msgspec.field(default_factory=dict)


def _no_messages() -> list[Message]:
    # No plain `list`: an empty one would be left out, and a host that misses `messages` closes the connection.
    return []


class Request(msgspec.Struct, omit_defaults=True):
    """One generation request.

    `wire_version` 0 means absent; `encode_request` writes `VERSION` for it. `stream=False` asks for no text deltas.
    `progress` is ours: it asks a page model to tell how far it is. Other hosts ignore it, as the wire tells them to.
    """

    wire_version: U32 = 0
    id: RequestId = ""
    messages: list[Message] = msgspec.field(default_factory=_no_messages)
    attachments: list[Attachment] = msgspec.field(default_factory=list)
    max_tokens: U32 | None = None
    temperature: int | float | None = None
    top_p: int | float | None = None
    top_k: U32 | None = None
    stream: bool | None = None
    tools: list[Tool] = msgspec.field(default_factory=list)
    tool_choice: str | None = None
    response_format: Any = None
    thinking: bool | None = None
    progress: bool | None = None


class OutBlock(msgspec.Struct, omit_defaults=True, gc=False):
    """One piece of an answer: text or thinking with a `delta`, or one complete tool_use.

    `progress` is ours, and sent to who asked for it only: `done` of a page's `total` lines have been read.
    """

    type: str
    delta: str = ""
    tool_call_id: str | None = None
    name: str | None = None
    input: Any = msgspec.UNSET
    done: U32 | None = None
    total: U32 | None = None


class Usage(msgspec.Struct):
    """Tokens read and written, as the model counts them.

    `cached_tokens` is ours: how many of those read the model still knew from the request before. Absent where it does
    not say; other clients ignore it, as the wire tells them to.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | msgspec.UnsetType = msgspec.UNSET


class Response(msgspec.Struct, omit_defaults=True, gc=False):
    """One frame of an answer: a block, or the terminal done or error.

    `report` is ours: what a model says of its answer besides the text (for a page: confidence and turn). Other
    clients ignore it, as the wire tells them to.
    """

    id: str = ""
    type: str = ""
    block: OutBlock | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    backend: str | None = None
    tool_choice_unsatisfied: bool = False
    report: Any = None
    code: str | None = None
    message: str | None = None

    @property
    def is_terminal(self) -> bool:
        """Whether this frame ends the answer."""
        return self.type in (ResponseType.DONE, ResponseType.ERROR)


class BlobDescriptor(msgspec.Struct):
    """The JSON frame that announces the blob frame after it."""

    type: str
    attachment_id: str
    len: int


def text_block(text: str) -> Block:
    """A block of text."""
    return Block("text", text=text)


def image_block(attachment_id: str) -> Block:
    """A block that refers to an image attachment by id."""
    return Block("image", attachment_id=attachment_id)


@runtime_checkable
class Closer(Protocol):
    """Anything that can be closed."""

    def close(self) -> None:
        """Give back what is held; may be called twice."""
