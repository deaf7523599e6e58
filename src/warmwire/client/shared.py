"""What the sync and the async client share: requests in the shape people ask for, and how an answer fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warmwire.models.images import image_attachment
from warmwire.wire.errors import CancelledError, ProtocolError, StreamLostError, WarmwireError
from warmwire.wire.messages import Message, Request, image_block, text_block
from warmwire.wire.response import Answer

READ_FAILURES = (EOFError, OSError, ValueError, ProtocolError)
"""What reading a connection raises when it ends, breaks, or is closed by another thread."""

CLOSED = "the client was closed while the request was being sent"

BUSY = "another answer is under way on this connection; end it first, or use a second client"


def ask_request(
    prompt: str,
    images: Sequence[Any] = (),
    system: str | None = None,
    max_tokens: int | None = None,
    temperature: float | None = None,
) -> Request:
    """One user turn: the images, in order, before the text, as vision models are trained to read them."""
    attachments = [image_attachment(f"image-{i}", image) for i, image in enumerate(images, 1)]
    content = [image_block(a.id) for a in attachments] + [text_block(prompt)]
    messages = [Message("system", [text_block(system)])] if system else []
    return Request(
        messages=[*messages, Message("user", content)],
        attachments=attachments,
        max_tokens=max_tokens,
        temperature=temperature,
    )


def failure(error: BaseException, answer: Answer, cancelled: bool) -> WarmwireError:
    """The error of an answer whose connection failed with `error`, carrying the text so far."""
    if cancelled:
        return CancelledError("the request was cancelled", partial=answer.text)
    if isinstance(error, ProtocolError):
        error.partial = answer.text
        return error
    return StreamLostError("the host closed the connection before the answer ended", partial=answer.text)
