"""Answers of the generation wire: writing them for a request, and collecting them.

An answer is any number of `frame` responses and exactly one `done` or `error`. `Answer` is the client's half,
sans-I/O: it takes responses and knows the text so far, the tool calls, and how it ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import Any, Final

import msgspec

from warmwire.errors import ErrorCode, InternalError, ProtocolError, error_for, sendable
from warmwire.wire.generation.frames import WireFrame, encode_frame
from warmwire.wire.generation.messages import FRAME_JSON, OutBlock, Request, Response, ResponseType, StopReason, Usage

_MAX_DELTA = 1 << 20
"""Longest text of one frame, characters: below the frame cap however it is escaped."""

_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_TYPES: Final = frozenset(map(str, ResponseType))
_BLOCKS: Final = frozenset({"text", "thinking", "tool_use"})

_encode = encode_response = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Response).decode


class ResponseWriter:
    """Encodes the frames that answer one request.

    A request with `stream: false` gets no text and no thinking before its terminal frame: their encoding is empty.
    """

    def __init__(self, request_id: str = "", *, stream: bool = True, must_call: bool = False) -> None:
        self._id = request_id
        self._stream = stream
        self._must_call = must_call
        self._head: Final = b'{"id":' + _encode(request_id) + b',"type":"frame","block":{"type":"text","delta":'
        self.has_called = False
        """Whether a tool_use block has been written, here or by a worker."""

    @classmethod
    def to(cls, request: Request) -> ResponseWriter:
        """A writer for the answer to a request."""
        return cls(request.id, stream=request.stream is not False, must_call=request.tool_choice == "required")

    def text(self, delta: str) -> bytes:
        """One text delta, as one frame (or several, if it is huge)."""
        if not self._stream:
            return b""
        # The hot path: a delta is a few characters, so the frame is put together by hand around them.
        try:
            payload = self._head + _encode(delta) + b"}}"
        except UnicodeEncodeError:  # lone surrogates have no UTF-8
            return self.text(delta.encode("utf-8", "replace").decode())
        length = len(payload)
        if length < 0x4000:
            if length < 0x80:
                return bytes((length, FRAME_JSON)) + payload
            return bytes((length & 0x7F | 0x80, length >> 7, FRAME_JSON)) + payload
        if len(delta) > _MAX_DELTA:
            return b"".join(self.text(delta[i : i + _MAX_DELTA]) for i in range(0, len(delta), _MAX_DELTA))
        return encode_frame(FRAME_JSON, payload)

    def block(self, block: OutBlock) -> bytes:
        """One block of any type."""
        if block.type == "text":
            return self.text(block.delta)
        if block.type == "thinking" and not self._stream:
            return b""
        self.has_called = self.has_called or block.type == "tool_use"
        return self._frame(Response(id=self._id, type=ResponseType.FRAME, block=block))

    def done(
        self,
        stop_reason: StopReason,
        usage: Usage,
        backend: str,
        report: Mapping[str, Any] | None = None,
    ) -> bytes:
        """The terminal frame of an answer that ended well. It says so if a tool had to be called and none was."""
        return self._frame(
            Response(
                id=self._id,
                type=ResponseType.DONE,
                usage=usage,
                stop_reason=stop_reason,
                backend=backend,
                tool_choice_unsatisfied=self._must_call and not self.has_called,
                report=report,
            )
        )

    def error(self, code: ErrorCode, message: str) -> bytes:
        """The terminal frame of a request that failed."""
        return self._frame(Response(id=self._id, type=ResponseType.ERROR, code=code, message=sendable(message)))

    def _frame(self, response: Response) -> bytes:
        body = _encode(response)
        if not self._id:  # always present on the wire, also when empty
            body = b'{"id":"",' + body[1:]
        return encode_frame(FRAME_JSON, body)


def decode_response(frame: WireFrame) -> Response:
    """The response in a frame. Raises ProtocolError for a blob or for JSON that is no response."""
    kind, payload = frame
    if kind != FRAME_JSON:
        raise ProtocolError("the host sent a blob frame; answers are JSON frames only")
    try:
        return _decode(payload)
    except _UNREADABLE as error:
        if (response := _of_unknown_type(payload)) is not None:
            return response
        raise ProtocolError(f"the host sent a response that cannot be read: {error}") from None


class _BlockType(msgspec.Struct):
    type: str = ""


class _Types(msgspec.Struct):
    """A response of which only the types are looked at."""

    type: str = ""
    block: _BlockType | None = None


_decode_types = msgspec.json.Decoder(_Types).decode


def _of_unknown_type(payload: bytes) -> Response | None:
    """What does not fit our types, if its own type is none of ours: its keys may mean anything. It is passed over."""
    try:
        types = _decode_types(payload)
    except _UNREADABLE:
        return None
    if types.type == ResponseType.FRAME and types.block is not None and types.block.type not in _BLOCKS:
        return Response(type=types.type)
    return None if types.type in _TYPES else Response(type=types.type)


class Answer:
    """An answer as it arrives.

    `take` gives the blocks of a response as they come; `finished` says that the terminal frame has been seen.
    """

    def __init__(self) -> None:
        self._text = StringIO()
        self.keep_text = True
        """Whether text is kept; who passes on what never ends has no use for it."""
        self.tool_calls: list[OutBlock] = []
        self.usage = Usage()
        self.stop_reason: str | None = None
        self.backend = ""
        self.report: Mapping[str, Any] = {}
        self.tool_choice_unsatisfied = False
        self.finished = False

    @property
    def text(self) -> str:
        """All text so far."""
        return self._text.getvalue()

    def check(self) -> None:
        """Raises InternalError, with the text, for an answer that its host has given up although it is done."""
        if self.stop_reason in (StopReason.CANCELLED, StopReason.ERROR):
            raise InternalError(f"the host ended the answer early: {self.stop_reason}", partial=self.text)

    def take(self, response: Response) -> OutBlock | None:
        """Record one response; returns its block, if it has one.

        Unknown response and block types are passed over. Raises the error of an error frame, with the text so far.
        """
        block = response.block
        if response.type == "frame":
            if block is not None:
                if block.type == "text":
                    if self.keep_text:
                        self._text.write(block.delta)
                elif block.type == "tool_use":
                    self.tool_calls.append(block)
            return block
        if response.type == ResponseType.DONE:
            self.finished = True
            self.usage = response.usage or Usage()
            self.stop_reason = response.stop_reason
            self.backend = response.backend or ""
            self.tool_choice_unsatisfied = response.tool_choice_unsatisfied
            if isinstance(response.report, dict):
                self.report = response.report
        elif response.type == ResponseType.ERROR:
            self.finished = True
            raise error_for(response.code or "", response.message or "the host gave no reason", partial=self.text)
        return None
