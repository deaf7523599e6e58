"""Validation: the documented order, the first failure wins, every failure keeps the connection."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.support import image_body, text_body
from warmwire.errors import AttachmentError, ErrorCode, RequestError
from warmwire.wire.generation.messages import MAX_IMAGE_AXIS
from warmwire.wire.generation.request import decode_body
from warmwire.wire.generation.validate import validate


def check(body: dict[str, Any], *blobs: bytes) -> None:
    request = decode_body(json.dumps(body).encode())
    for attachment, data in zip(request.attachments, blobs, strict=False):
        attachment.data = data
    validate(request)


def refusal(body: dict[str, Any], *blobs: bytes) -> str:
    with pytest.raises(RequestError) as caught:
        check(body, *blobs)
    assert caught.value.code in (ErrorCode.INVALID_REQUEST, ErrorCode.ATTACHMENT_UNSUPPORTED)
    return str(caught.value)


TOOL = {"name": "f", "description": "", "input_schema": {}}


def test_sound_requests_pass() -> None:
    check(text_body(""))
    check(image_body("a", "b"), b"123456", b"123456")
    check(text_body(attachments=[{"kind": "audio", "id": "a", "sample_rate": 16000}]), b"12345678")
    check(text_body(tools=[TOOL], tool_choice="required"))
    check(text_body(response_format={"type": "json_schema", "schema": {}}))


def ordered_failures() -> list[tuple[str, dict[str, Any]]]:
    """One request with every fault, then the same with the first fault mended, and so on."""
    image = {"kind": "image", "id": "a", "width": 1, "height": 1}
    body: dict[str, Any] = {
        "wire_version": 1,
        "id": "r",
        "messages": [],
        "attachments": [{"kind": "hologram", "id": "h"}],
        "tools": [TOOL, TOOL],
        "tool_choice": "sometimes",
        "response_format": {"type": "json_schema", "schema": {}},
    }
    messages = [
        {"role": "system", "content": []},
        {"role": "user", "content": [{"type": "image", "attachment_id": "zzz"}, {"type": "hologram"}]},
    ]
    steps: list[tuple[str, dict[str, Any]]] = [
        ("messages must not be empty", {"messages": messages}),
        ("attachments[0] has unknown kind 'hologram'", {"attachments": [image | {"id": ""}]}),
        ("attachments[0].id must not be empty", {"attachments": [image, image]}),
        ("attachments[1] repeats the id 'a'", {"attachments": [image]}),
        ("tools repeat the name 'f'", {"tools": []}),
        ("tool_choice is none of auto, required, none: 'sometimes'", {"tool_choice": "auto"}),
        ("tool_choice needs tools", {"tools": [TOOL]}),
        ("messages[0].content must not be empty", {"messages": messages[1:]}),
        (
            "messages[0].content[0] references unknown attachment_id 'zzz'",
            {
                "messages": [
                    {"role": "user", "content": [{"type": "audio", "attachment_id": "a"}, {"type": "hologram"}]}
                ]
            },
        ),
        (
            "messages[0].content[0]: block expects audio attachment but 'a' is a different kind",
            {"messages": [{"role": "user", "content": [{"type": "hologram"}]}]},
        ),
        (
            "messages[0].content[0] uses unknown content-block type 'hologram'",
            {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]},
        ),
        ("tool_choice and response_format cannot be combined", {"response_format": None}),
        ("attachment 'a': 1x1 RGB needs 3 bytes, got 0", {}),
    ]
    cases = []
    for message, mend in steps:
        cases.append((message, copy.deepcopy(body)))
        body |= mend
    return cases


@pytest.mark.parametrize(("message", "body"), ordered_failures())
def test_the_first_failure_wins(message: str, body: dict[str, Any]) -> None:
    assert refusal(body) == message


@pytest.mark.parametrize("choice", ["auto", "required", "none"])
def test_every_tool_choice_needs_tools(choice: str) -> None:
    assert refusal(text_body(tool_choice=choice)) == "tool_choice needs tools"


def test_more_than_32_attachments() -> None:
    video = [{"kind": "video", "id": str(n)} for n in range(33)]
    assert refusal(text_body(attachments=video)) == "request declares 33 attachments; at most 32 allowed"


def test_dangling_attachment_is_named() -> None:
    body = image_body("there")
    body["messages"][0]["content"][0]["attachment_id"] = "gone"
    assert "'gone'" in refusal(body)


def test_tool_results_are_searched() -> None:
    inner = {"type": "tool_result", "tool_call_id": "t", "content": [{"type": "image", "attachment_id": "x"}]}
    body = text_body()
    body["messages"][0]["content"].append(inner)
    assert refusal(body) == "messages[0].content[1].content[0] references unknown attachment_id 'x'"


def test_endless_nesting_is_refused() -> None:
    block: dict[str, Any] = {"type": "text", "text": "x"}
    for _ in range(20):
        block = {"type": "tool_result", "tool_call_id": "t", "content": [block]}
    body = text_body()
    body["messages"][0]["content"].append(block)
    assert "nests tool results deeper than 16" in refusal(body)


@pytest.mark.parametrize(
    ("width", "height"),
    [(0, 1), (1, 0), (MAX_IMAGE_AXIS + 1, 1), (1, MAX_IMAGE_AXIS + 1), (1 << 31, 1 << 31), (None, 1), (1, None)],
)
def test_axes_are_bounded_before_they_are_multiplied(width: int | None, height: int | None) -> None:
    assert f"1 to {MAX_IMAGE_AXIS} pixels an axis" in refusal(image_body("a", width=width, height=height))


@pytest.mark.parametrize("size", [0, 5, 7])
def test_an_image_has_exactly_its_bytes(size: int) -> None:
    assert refusal(image_body("a"), b"x" * size) == f"attachment 'a': 2x1 RGB needs 6 bytes, got {size}"


def test_audio_is_whole_samples() -> None:
    body = text_body(attachments=[{"kind": "audio", "id": "a", "sample_rate": 8000}])
    assert refusal(body, b"12345") == "attachment 'a': 5 bytes are not whole float32 samples"


def test_video_is_unsupported() -> None:
    body = text_body(attachments=[{"kind": "video", "id": "v"}])
    body["messages"][0]["content"].append({"type": "video", "attachment_id": "v"})
    with pytest.raises(AttachmentError, match="'v': video is not supported") as caught:
        check(body)
    assert caught.value.code == ErrorCode.ATTACHMENT_UNSUPPORTED
