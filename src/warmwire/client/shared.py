"""What the sync and the async client share: requests in the shape people ask for, and how an answer fails."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypedDict

from warmwire.models.audio import audio_attachment
from warmwire.models.images import image_attachment
from warmwire.models.pictures import load_picture
from warmwire.wire.errors import CancelledError, ProtocolError, StreamLostError, WarmwireError
from warmwire.wire.frames import FrameReader
from warmwire.wire.messages import Attachment, Block, Message, Request, Tool, text_block
from warmwire.wire.response import Answer

READ_FAILURES = (EOFError, OSError, ValueError, ProtocolError)
"""What reading a connection raises when it ends, breaks, or is closed by another thread."""

CLOSED = "the client was closed while the request was being sent"

BUSY = "another answer is under way on this connection; end it first, or use a second client"


class AskOptions(TypedDict, total=False):
    """What may come with a prompt."""

    images: Sequence[Any]
    """Files, arrays (height, width, 3) uint8 RGB, or PIL images."""

    audio: Sequence[tuple[Any, int]]
    """Mono samples, float32 from -1 to 1, each with its rate in Hz: the one the host advertises."""

    system: str | None
    tools: Sequence[Tool]
    tool_choice: str | None
    json_schema: Any
    """The answer is JSON of this schema, where the model can be held to one."""

    max_tokens: int | None
    temperature: float | None
    thinking: bool | None


def ask_request(prompt: str, options: AskOptions) -> Request:
    """One user turn: the images and the sound, in order, before the text, as models are trained to take them.

    Raises InputError for a file that is no picture (UsageError for a PDF), InvalidRequestError for an array that is no
    image or sound.
    """
    schema = options.get("json_schema")
    images = [_image_attachment(f"image-{i}", image) for i, image in enumerate(options.get("images", ()), 1)]
    sounds = [audio_attachment(f"audio-{i}", *sound) for i, sound in enumerate(options.get("audio", ()), 1)]
    blocks = [Block(a.kind, attachment_id=a.id) for a in (*images, *sounds)]
    system = options.get("system")
    messages = [Message("system", [text_block(system)])] if system else []
    return Request(
        messages=[*messages, Message("user", [*blocks, text_block(prompt)])],
        attachments=[*images, *sounds],
        tools=list(options.get("tools", ())),
        tool_choice=options.get("tool_choice"),
        response_format=None if schema is None else {"type": "json_schema", "schema": schema},
        max_tokens=options.get("max_tokens"),
        temperature=options.get("temperature"),
        thinking=options.get("thinking"),
    )


def _image_attachment(id: str, image: Any) -> Attachment:
    """An image given as a file is opened here; anything else is pixels already."""
    return image_attachment(id, load_picture(image) if isinstance(image, str | os.PathLike) else image)


def failure(error: BaseException, answer: Answer, frames: FrameReader, cancelled: bool) -> WarmwireError:
    """The error of an answer whose connection failed with `error`, carrying the text so far.

    A host that died while it wrote a frame is as lost as one that died between two: only bytes that no host may send
    are a ProtocolError.
    """
    if cancelled:
        return CancelledError("the request was cancelled", partial=answer.text)
    if isinstance(error, ProtocolError) and not frames.at_eof:
        error.partial = answer.text
        return error
    return StreamLostError("the host closed the connection before the answer ended", partial=answer.text)
