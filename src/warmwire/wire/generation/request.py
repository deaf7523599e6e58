"""Requests of the generation wire: writing them, and reading them with their blobs.

A request is one JSON frame, then for each attachment with bytes a JSON descriptor and a blob frame. `RequestReader`
is sans-I/O like `FrameReader`: the shell receives into `get_buffer()`, says `buffer_updated(n)`, and takes complete
requests with `next_request()`. Blobs are matched by id, charged against the byte budget when they are announced, and
received straight into the buffer that `allocate` gives.

Every error that `next_request` raises ends the connection; `request_id` is the id to echo with it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, Final

import msgspec

from warmwire.errors import FrameTooLargeError, InvalidRequestError, ProtocolError, WireVersionError
from warmwire.wire.generation.frames import FrameReader, encode_frame, encode_header, pour
from warmwire.wire.generation.messages import (
    FRAME_BLOB,
    FRAME_JSON,
    MAX_ATTACHMENT_BYTES,
    MAX_ATTACHMENTS,
    MAX_FRAME,
    VERSION,
    Attachment,
    BlobDescriptor,
    Request,
)

DESCRIPTOR_TYPE: Final = "attachment_blob"

_SMALL_BODY: Final = 64 << 10
"""Bodies up to this many bytes are searched for repeated keys; larger ones would hold the host up."""

_NEEDED: Final = {
    "text": ("text",),
    "image": ("attachment_id",),
    "audio": ("attachment_id",),
    "video": ("attachment_id",),
    "tool_use": ("tool_call_id", "name"),
    "tool_result": ("tool_call_id",),
}
"""Keys without which a block of a kind cannot be read. Kinds that are not here are a matter of `validate`."""

_decode_request = msgspec.json.Decoder(Request).decode
_decode_keys = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_descriptor = msgspec.json.Decoder(BlobDescriptor).decode
_encode = msgspec.json.Encoder().encode


def encode_request(request: Request) -> list[bytes | memoryview]:
    """The bytes of a request as pieces to send one after another; blobs are views of the attachments' own data.

    Raises FrameTooLargeError for a blob or a JSON body over the frame cap, InvalidRequestError over the budgets, for an
    attachment without the bytes that it needs, and for text and numbers that JSON has no way to write.
    """
    check_attachment_count(request)
    blobs = [(a, memoryview(a.data).cast("B")) for a in request.attachments]
    for attachment, view in blobs:
        if carries_bytes(attachment) and not len(view):  # the host would wait for them, and we for its answer
            raise InvalidRequestError(f"attachment {attachment.id!r} has no bytes")
    body = _encode_body(msgspec.structs.replace(without_blobs(request), wire_version=request.wire_version or VERSION))
    pieces: list[bytes | memoryview] = [encode_frame(FRAME_JSON, body)]
    if sum(len(view) for _, view in blobs) > MAX_ATTACHMENT_BYTES:
        raise FrameTooLargeError(f"attachments exceed {MAX_ATTACHMENT_BYTES} bytes together")
    for attachment, view in blobs:
        if len(view):
            descriptor = BlobDescriptor(DESCRIPTOR_TYPE, attachment.id, len(view))
            header = encode_frame(FRAME_JSON, _encode(descriptor)) + encode_header(FRAME_BLOB, len(view))
            pieces += [header, view]
    return pieces


def _encode_body(request: Request) -> bytes:
    for key in ("temperature", "top_p"):
        value = getattr(request, key)
        if isinstance(value, float) and not math.isfinite(value):  # would be written as null, and so be lost
            raise InvalidRequestError(f"{key} must be a finite number, not {value}")
    try:
        return _encode(request)
    except UnicodeEncodeError as error:
        raise InvalidRequestError(f"a text cannot be sent: {error}") from None


def without_blobs(request: Request) -> Request:
    """A copy whose attachments have no bytes: what the JSON says."""
    bare = [msgspec.structs.replace(a, data=b"") for a in request.attachments]
    return msgspec.structs.replace(request, attachments=bare)


def decode_body(payload: bytes | bytearray) -> Request:
    """A request's JSON. Raises ProtocolError: a body that cannot be read says nothing about what follows it."""
    try:
        request = _decode_request(payload)
        if not request.messages and "messages" not in _decode_keys(payload):
            raise ProtocolError("decode: Object missing required field `messages`")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"decode: {error}") from None
    _check_response_format(request.response_format)
    _check_blocks(request)
    if len(payload) <= _SMALL_BODY:
        _check_keys(payload)
    for attachment in request.attachments:
        attachment.data = b""  # the JSON key of that name, if any, is not ours
    return request


def _check_response_format(value: Any) -> None:
    if value is not None and not (isinstance(value, dict) and value.get("type") == "json_schema" and "schema" in value):
        raise ProtocolError('decode: response_format is not {"type":"json_schema","schema":...}')


def _check_blocks(request: Request) -> None:
    # No recursion: how deep results may lie in results is known to `validate` alone.
    waiting = [message.content for message in request.messages]
    while waiting:
        for block in waiting.pop():
            for key in _NEEDED.get(block.type, ()):
                if getattr(block, key) is None:
                    raise ProtocolError(f"decode: a block of type {block.type} lacks its `{key}`")
            if block.type == "tool_result" and block.content:
                waiting.append(block.content)


def _check_keys(payload: bytes | bytearray) -> None:
    """Refuse a body in which an object repeats a key: two readers of it could see two different requests."""
    try:
        _unique_keys.decode(payload.decode())
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"decode: {error}") from None


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ProtocolError(f"decode: an object repeats the key {next(k for k in keys if keys.count(k) > 1)!r}")


# Values do not matter here, and converting a number of a million digits would take for ever.
_unique_keys: Final = json.JSONDecoder(object_pairs_hook=_refuse_repeated, parse_int=len, parse_float=len)


def check_attachment_count(request: Request) -> None:
    count = len(request.attachments)
    if count > MAX_ATTACHMENTS:
        raise InvalidRequestError(f"request declares {count} attachments; at most {MAX_ATTACHMENTS} allowed")


def carries_bytes(attachment: Attachment) -> bool:
    """Whether a blob follows for it. A picture without pixels and a video have none: waiting would never end."""
    if attachment.kind == "image":
        return bool(attachment.width and attachment.height)
    return attachment.kind == "audio"


class RequestReader:
    """Turns received bytes into requests with their blobs.

    `allocate(n)` gives a writable buffer of exactly n bytes. `frames` lets a connection that has been read frame by
    frame go on request by request.
    """

    def __init__(self, allocate: Callable[[int], Any] = bytearray, frames: FrameReader | None = None) -> None:
        self._allocate = allocate
        self._frames = frames or FrameReader()
        self.get_buffer = self._frames.get_buffer
        self.buffer_updated = self._frames.buffer_updated
        self._request: Request | None = None
        self._waiting: dict[str, Attachment] = {}
        self._announced: BlobDescriptor | None = None
        self._budget = 0

    @property
    def unfinished(self) -> bool:
        """Whether a part of a request has been received, and not all of it."""
        return self._request is not None or self._frames.in_frame

    @property
    def request_id(self) -> str:
        """The id of the request being read, "" before its JSON has been decoded."""
        return self._request.id if self._request else ""

    def receive_data(self, data: bytes | memoryview) -> list[Request]:
        """Take bytes that were received elsewhere; returns the requests they complete."""
        return list(pour(data, self.get_buffer, self.buffer_updated, self.next_request))

    def receive_eof(self) -> None:
        """Say that the peer will send nothing more. Raises ProtocolError in the middle of a request."""
        self._frames.receive_eof()
        if self._request is not None:
            raise ProtocolError(f"ended before the blobs of {sorted(self._waiting)}")

    def next_request(self) -> Request | None:
        """The next complete request, or None when more bytes are needed.

        Raises ProtocolError, WireVersionError or InvalidRequestError; the connection must then be closed.
        """
        while (frame := self._frames.next_frame(self._open_blob)) is not None:
            kind, payload = frame
            if self._request is None:
                if kind != FRAME_JSON:
                    raise ProtocolError("a blob frame arrived where a request was expected")
                self._begin(payload)
            elif self._announced is None:
                self._announce(kind, payload)
            elif kind == FRAME_JSON:
                raise ProtocolError(f"blob of attachment {self._announced.attachment_id!r} is missing")
            else:
                del self._waiting[self._announced.attachment_id]
                self._announced = None
            if not self._waiting:
                request, self._request = self._request, None
                return request
        return None

    def _begin(self, payload: bytes) -> None:
        request = self._request = decode_body(payload)
        if request.wire_version != VERSION:
            raise WireVersionError(
                f"unsupported wire_version {request.wire_version}: this host speaks wire_version {VERSION}"
            )
        check_attachment_count(request)
        # A duplicate id is refused by `validate` once the stream is past this request's blobs.
        self._waiting = {a.id: a for a in request.attachments if carries_bytes(a)}
        self._budget = MAX_ATTACHMENT_BYTES

    def _announce(self, kind: int, payload: bytes) -> None:
        if kind != FRAME_JSON:
            raise ProtocolError("a blob frame arrived without its descriptor")
        try:
            descriptor = _decode_descriptor(payload)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ProtocolError(f"attachment descriptor: {error}") from None
        if descriptor.type != DESCRIPTOR_TYPE:
            raise ProtocolError(f"expected an {DESCRIPTOR_TYPE} descriptor, got type {descriptor.type!r}")
        if descriptor.attachment_id not in self._waiting:
            raise ProtocolError(f"descriptor names no attachment that waits for bytes: {descriptor.attachment_id!r}")
        if descriptor.len < 0:
            raise ProtocolError(f"descriptor of attachment {descriptor.attachment_id!r} has a negative length")
        if descriptor.len > MAX_FRAME:
            raise FrameTooLargeError(f"attachment {descriptor.attachment_id!r} exceeds {MAX_FRAME} byte cap")
        if descriptor.len > self._budget:
            raise FrameTooLargeError(f"attachments exceed {MAX_ATTACHMENT_BYTES} bytes together")
        self._budget -= descriptor.len
        self._announced = descriptor

    def _open_blob(self, length: int) -> Any:
        """The buffer for the blob frame whose header has been read. Raises ProtocolError where none may come."""
        if self._request is None:
            raise ProtocolError("a blob frame arrived where a request was expected")
        if self._announced is None:
            raise ProtocolError("a blob frame arrived without its descriptor")
        if length != self._announced.len:
            raise ProtocolError(
                f"attachment {self._announced.attachment_id!r}: descriptor says {self._announced.len} bytes,"
                f" the blob has {length}"
            )
        data = self._waiting[self._announced.attachment_id].data = self._allocate(length)
        return data

    def abandon(self) -> Request | None:
        """Give up the request being read, if any: returns it with the buffers that it has been given so far."""
        request, self._request = self._request, None
        self._waiting = {}
        self._frames.drop_payload()
        return request
