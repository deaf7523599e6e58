"""What the types of a request cannot say, checked in the order inferd checks it; the first failure wins.

A request that fails here has been read whole, so the connection lives on.
"""

from __future__ import annotations

from warmwire.errors import AttachmentError, InvalidRequestError
from warmwire.wire.generation.messages import MAX_IMAGE_AXIS, Attachment, Block, Request
from warmwire.wire.generation.request import check_attachment_count

_KINDS = frozenset({"image", "audio", "video"})
_TOOL_CHOICES = frozenset({"auto", "required", "none"})
_MAX_DEPTH = 16
"""Deepest nesting of tool results. A result inside a result has no use; the bound keeps the stack flat."""


def validate(request: Request) -> None:
    """Raises InvalidRequestError, or AttachmentError for a kind of attachment that no host takes."""
    if not request.messages:
        raise InvalidRequestError("messages must not be empty")
    check_attachment_count(request)
    attachments = _check_attachments(request.attachments)
    _check_tools(request)
    for i, message in enumerate(request.messages):
        where = f"messages[{i}]"
        if not message.content:
            raise InvalidRequestError(f"{where}.content must not be empty")
        _check_blocks(message.content, where, attachments, _MAX_DEPTH)
    if request.tool_choice is not None and request.response_format is not None:
        raise InvalidRequestError("tool_choice and response_format cannot be combined")
    for attachment in request.attachments:
        _check_size(attachment)


def _check_attachments(attachments: list[Attachment]) -> dict[str, Attachment]:
    seen: dict[str, Attachment] = {}
    for i, attachment in enumerate(attachments):
        if attachment.kind not in _KINDS:
            raise InvalidRequestError(f"attachments[{i}] has unknown kind {attachment.kind!r}")
        if not attachment.id:
            raise InvalidRequestError(f"attachments[{i}].id must not be empty")
        if attachment.id in seen:
            raise InvalidRequestError(f"attachments[{i}] repeats the id {attachment.id!r}")
        seen[attachment.id] = attachment
    return seen


def _check_tools(request: Request) -> None:
    names: set[str] = set()
    for tool in request.tools:
        if tool.name in names:
            raise InvalidRequestError(f"tools repeat the name {tool.name!r}")
        names.add(tool.name)
    if request.tool_choice is None:
        return
    if request.tool_choice not in _TOOL_CHOICES:
        raise InvalidRequestError(f"tool_choice is none of auto, required, none: {request.tool_choice!r}")
    if not request.tools:
        raise InvalidRequestError("tool_choice needs tools")


def _check_blocks(blocks: list[Block], where: str, attachments: dict[str, Attachment], depth: int) -> None:
    if not depth:
        raise InvalidRequestError(f"{where} nests tool results deeper than {_MAX_DEPTH}")
    for j, block in enumerate(blocks):
        at = f"{where}.content[{j}]"
        if block.type in _KINDS:
            attachment = attachments.get(block.attachment_id or "")
            if attachment is None:
                raise InvalidRequestError(f"{at} references unknown attachment_id {block.attachment_id!r}")
            if attachment.kind != block.type:
                raise InvalidRequestError(
                    f"{at}: block expects {block.type} attachment but {attachment.id!r} is a different kind"
                )
        elif block.type == "tool_result":
            _check_blocks(block.content or [], at, attachments, depth - 1)
        elif block.type not in ("text", "tool_use"):
            raise InvalidRequestError(f"{at} uses unknown content-block type {block.type!r}")


def _check_size(attachment: Attachment) -> None:
    size = memoryview(attachment.data).nbytes
    if attachment.kind == "video":
        raise AttachmentError(f"attachment {attachment.id!r}: video is not supported")
    if attachment.kind == "audio":
        if size % 4:
            raise InvalidRequestError(f"attachment {attachment.id!r}: {size} bytes are not whole float32 samples")
        return
    width, height = attachment.width or 0, attachment.height or 0
    # The axes are bounded before they are multiplied, as the seed asks of both sides of the wire.
    if not (0 < width <= MAX_IMAGE_AXIS and 0 < height <= MAX_IMAGE_AXIS):
        raise InvalidRequestError(
            f"attachment {attachment.id!r}: {width}x{height} is not an image of 1 to {MAX_IMAGE_AXIS} pixels an axis"
        )
    if size != width * height * 3:
        raise InvalidRequestError(
            f"attachment {attachment.id!r}: {width}x{height} RGB needs {width * height * 3} bytes, got {size}"
        )
