"""What the sync and the async client share: requests in the shape people ask for, and all of an answer but its I/O."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from typing import Any, TypedDict

from warmwire.errors import (
    CancelledError,
    ProtocolError,
    StreamLostError,
    TimedOutError,
    UsageError,
    WarmwireError,
)
from warmwire.media.audio import audio_attachment
from warmwire.media.images import image_attachment
from warmwire.media.pictures import load_picture
from warmwire.wire.generation.frames import FrameReader
from warmwire.wire.generation.messages import Attachment, Block, Message, OutBlock, Request, Tool, text_block
from warmwire.wire.generation.response import Answer, decode_response

_READ_FAILURES = (EOFError, OSError, ValueError, ProtocolError)
"""What reading a connection raises when it ends, breaks, or is closed by another thread."""

_TICK = 0.001
"""Seconds; 0 would be taken for "do not wait at all"."""

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

    timeout: float | None
    """Most seconds until the answer is whole; instead of the client's own."""


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


class Deadline:
    """The moment at which an answer has to be whole; never, where `seconds` is None. Raises UsageError."""

    def __init__(self, seconds: float | None) -> None:
        if seconds is not None and not seconds > 0:
            raise UsageError(f"a timeout is a number of seconds above 0, or None, not {seconds}")
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """Seconds until then, None for any number. Raises TimedOutError."""
        if self._end is None:
            return None
        if self.passed:
            raise self.error()
        return max(self._end - time.monotonic(), _TICK)

    @property
    def passed(self) -> bool:
        """Whether it has come."""
        return self._end is not None and time.monotonic() >= self._end

    def error(self, partial: str = "") -> TimedOutError:
        """What to raise when it has passed."""
        return TimedOutError(f"the answer was not whole within {self._seconds:g} s and was cancelled", partial=partial)


class Reply:
    """An answer as a connection's frames bring it. The I/O is the client's: it receives into `frames`."""

    def __init__(self, frames: FrameReader, deadline: Deadline) -> None:
        self._frames = frames
        self.deadline = deadline
        self.answer = Answer()
        self.cancelled = False

    def next_block(self) -> OutBlock | None:
        """The next block that is here; None when the answer has finished or more has to be received."""
        answer = self.answer
        while not answer.finished and (frame := self._frames.next_frame()) is not None:
            if (block := answer.take(decode_response(frame))) is not None:
                return block
        return None

    def failure(self, error: BaseException) -> BaseException:
        """What to raise when receiving or `next_block` raised `error`: an error with the text so far, or `error`.

        A host that died while it wrote a frame is as lost as one that died between two: only bytes that no host may
        send are a ProtocolError.
        """
        if isinstance(error, TimeoutError | TimedOutError) and not self.cancelled:
            return self.deadline.error(self.answer.text)
        if self.answer.finished or not isinstance(error, _READ_FAILURES):
            return error  # an error frame's, or not of the connection
        if self.cancelled:
            return CancelledError("the request was cancelled", partial=self.answer.text)
        if isinstance(error, ProtocolError) and not self._frames.at_eof:
            error.partial = self.answer.text
            return error
        return StreamLostError("the host closed the connection before the answer ended", partial=self.answer.text)


def unsent(error: OSError, deadline: Deadline, closed: bool) -> WarmwireError | None:
    """The error of a request that could not be sent, on a connection that this side has `closed` or not.

    None when the host has ended the connection: it may have said why, and that can be read.
    """
    if closed:
        return CancelledError("the client was closed while the request was being sent")
    if isinstance(error, TimeoutError):
        return deadline.error()
    if isinstance(error, BrokenPipeError | ConnectionResetError):
        return None
    return StreamLostError(f"the request could not be sent: {error.strerror}")


def ended_silently(sock: socket.socket) -> bool:
    """Whether the host closed without a word: it has not seen a request that was sent to it since."""
    try:
        return not sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
