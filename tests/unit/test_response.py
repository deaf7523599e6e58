"""Answers: the golden bytes, what is written, and what a client makes of what it reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import GOLDEN_RESPONSE, frame, json_frame
from warmwire.errors import (
    BackendUnavailableError,
    ErrorCode,
    InternalError,
    ProtocolError,
    QueueFullError,
    RequestError,
    WarmwireError,
)
from warmwire.wire.generation.frames import FrameReader
from warmwire.wire.generation.messages import FRAME_JSON, MAX_FRAME, OutBlock, Request, Response, StopReason, Usage
from warmwire.wire.generation.response import Answer, ResponseWriter, decode_response


def decode(data: bytes) -> list[dict[str, Any]]:
    reader = FrameReader()
    frames = reader.receive_data(data)
    reader.receive_eof()
    return [json.loads(bytes(payload)) for _, payload in frames]


@pytest.mark.parametrize("step", [1, 2, 5, 100, 1000])
@pytest.mark.parametrize("tail", [b"", b"\x05\x01{"])
def test_golden_response(step: int, tail: bytes) -> None:
    reader, answer = FrameReader(), Answer()
    data = GOLDEN_RESPONSE + tail
    blocks = [
        answer.take(decode_response(item))
        for at in range(0, len(data), step)
        for item in reader.receive_data(data[at : at + step])
    ]
    deltas = [block.delta for block in blocks if block is not None]
    assert deltas == ["<doctag><text>héllo & <world></text>", "\n</doctag>"]
    assert answer.text == "".join(deltas)
    assert answer.finished
    assert (answer.stop_reason, answer.backend, answer.usage) == ("end_turn", "bench", Usage(0, 2))


def test_golden_response_is_what_we_would_say() -> None:
    """Go escapes `<`, `>` and `&` inside its strings; decoded, both are the same, keys in the same order."""
    writer = ResponseWriter("page-1")
    ours = (
        writer.text("<doctag><text>héllo & <world></text>")
        + writer.text("\n</doctag>")
        + writer.done(StopReason.END_TURN, Usage(0, 2), "bench")
    )
    assert [list(r.items()) for r in decode(ours)] == [list(r.items()) for r in decode(GOLDEN_RESPONSE)]


def test_the_golden_done_is_written_byte_for_byte() -> None:
    done = ResponseWriter("page-1").done(StopReason.END_TURN, Usage(0, 2), "bench")
    assert GOLDEN_RESPONSE.endswith(done)


# ---------------------------------------------------------------------- writing


def test_every_frame_has_an_id_also_an_empty_one() -> None:
    writer = ResponseWriter()
    data = (
        writer.text("a")
        + writer.block(OutBlock("thinking", "b"))
        + writer.done(StopReason.END_TURN, Usage(), "m")
        + writer.error(ErrorCode.INTERNAL, "c")
    )
    assert [r["id"] for r in decode(data)] == [""] * 4


def test_what_is_absent_is_left_out() -> None:
    [done] = decode(ResponseWriter("r").done(StopReason.END_TURN, Usage(), "m"))
    assert done == {
        "id": "r",
        "type": "done",
        "usage": {"input_tokens": 0, "output_tokens": 0},
        "stop_reason": "end_turn",
        "backend": "m",
    }


@pytest.mark.parametrize("size", [0, 1, 60, 61, 62, 63, 64, 65, 200, 16310, 16320, 16330, 70_000])
def test_text_of_any_length_is_one_sound_frame(size: int) -> None:
    [response] = decode(ResponseWriter("r").text("x" * size))
    assert response == {"id": "r", "type": "frame", "block": {"type": "text", "delta": "x" * size}}


def test_huge_text_becomes_several_frames() -> None:
    text = "\x01é😀" * (1 << 20)
    responses = decode(ResponseWriter("r").text(text))
    assert len(responses) == 3
    assert "".join(r["block"]["delta"] for r in responses) == text


@pytest.mark.parametrize("text", ['"quoted"\\', "\0\n\x1f", "ünï😀", "</doctag>", "\u2028"])
def test_text_survives(text: str) -> None:
    [response] = decode(ResponseWriter('an "id"\n').text(text))
    assert response["id"] == 'an "id"\n'
    assert response["block"]["delta"] == text


def test_lone_surrogates_cannot_break_the_stream() -> None:
    writer = ResponseWriter("r")
    data = writer.text("a\udcffb") + writer.error(ErrorCode.INTERNAL, "no file \udcff") + writer.text("ok")
    assert [r.get("message") or r["block"]["delta"] for r in decode(data)] == ["a?b", "no file ?", "ok"]


def test_an_error_message_is_bounded() -> None:
    [response] = decode(ResponseWriter("r").error(ErrorCode.INVALID_REQUEST, "\x00" * MAX_FRAME))
    assert len(response["message"]) == 4096


def test_tool_use_is_whole() -> None:
    block = OutBlock("tool_use", tool_call_id="tc-1", name="f", input={"x": [1, None]})
    [response] = decode(ResponseWriter("r").block(block))
    assert response["block"] == {"type": "tool_use", "tool_call_id": "tc-1", "name": "f", "input": {"x": [1, None]}}


def test_stream_false_withholds_text_and_thinking_alone() -> None:
    writer = ResponseWriter.to(Request(id="r", stream=False))
    data = (
        writer.text("t")
        + writer.block(OutBlock("text", "t"))
        + writer.block(OutBlock("thinking", "t"))
        + writer.block(OutBlock("tool_use", tool_call_id="tc-1", name="f", input={}))
        + writer.done(StopReason.TOOL_USE, Usage(), "m")
    )
    assert [r.get("block", r)["type"] for r in decode(data)] == ["tool_use", "done"]


@pytest.mark.parametrize("stream", [None, True])
def test_otherwise_text_is_sent(stream: bool | None) -> None:
    assert ResponseWriter.to(Request(stream=stream)).text("t")


@pytest.mark.parametrize("choice", [None, "auto", "none", "required"])
@pytest.mark.parametrize("called", [False, True])
def test_a_required_tool_that_was_not_called_is_told(choice: str | None, called: bool) -> None:
    writer = ResponseWriter.to(Request(tool_choice=choice))
    if called:
        writer.block(OutBlock("tool_use", tool_call_id="tc-1", name="f", input={}))
    [done] = decode(writer.done(StopReason.END_TURN, Usage(), "m"))
    assert done.get("tool_choice_unsatisfied") is (True if choice == "required" and not called else None)


# ---------------------------------------------------------------------- reading


def take(*values: Any) -> Answer:
    answer = Answer()
    for value in values:
        [item] = FrameReader().receive_data(json_frame(value))
        answer.take(decode_response(item))
    return answer


def test_unknown_types_keys_and_blocks_are_passed_over() -> None:
    answer = take(
        {"id": "r", "type": "progress", "percent": 3},
        {"id": "r", "type": "frame", "block": {"type": "hologram", "angle": 3}},
        {"id": "r", "type": "frame"},
        {"id": "r", "type": "frame", "block": {"type": "text", "delta": "x", "logprob": -1}},
        {"type": "done", "future": {}},
    )
    assert answer.text == "x"
    assert answer.finished
    assert answer.usage == Usage()


def test_keys_of_unknown_types_may_mean_anything() -> None:
    answer = take(
        {"type": "progress", "message": {"percent": 3}, "usage": "none", "block": {"type": "text", "delta": 7}},
        {"type": "frame", "block": {"type": "picture", "delta": {"pixels": []}, "name": 4}},
        {"type": "done"},
    )
    assert answer.text == ""
    assert answer.finished


@pytest.mark.parametrize(
    "value",
    [
        {"type": "done", "usage": 3},
        {"type": "error", "message": []},
        {"type": "frame", "block": {"type": "text", "delta": 7}},
        {"type": "frame", "block": []},
        {"type": 3},
        [],
    ],
)
def test_keys_of_known_types_must_fit(value: Any) -> None:
    with pytest.raises(ProtocolError, match="cannot be read"):
        take(value)


def test_thinking_is_no_text_and_tools_are_kept() -> None:
    answer = take(
        {"type": "frame", "block": {"type": "thinking", "delta": "hm"}},
        {"type": "frame", "block": {"type": "tool_use", "tool_call_id": "t", "name": "f", "input": {"a": 1}}},
        {"type": "done", "stop_reason": "tool_use", "tool_choice_unsatisfied": True},
    )
    assert answer.text == ""
    assert [(c.name, c.input) for c in answer.tool_calls] == [("f", {"a": 1})]
    assert answer.tool_choice_unsatisfied


def test_a_done_frame_of_an_older_host_parses() -> None:
    answer = take({"type": "done", "usage": {"input_tokens": 1, "output_tokens": 2}, "stop_reason": "end_turn"})
    assert answer.usage == Usage(1, 2)
    assert answer.tool_choice_unsatisfied is False


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("queue_full", QueueFullError),
        ("backend_unavailable", BackendUnavailableError),
        ("internal", InternalError),
        ("brand_new", RequestError),
    ],
)
def test_an_error_frame_is_raised_with_the_text_so_far(code: str, kind: type[WarmwireError]) -> None:
    text = {"type": "frame", "block": {"type": "text", "delta": "half"}}
    with pytest.raises(kind, match="why") as caught:
        take(text, {"type": "error", "code": code, "message": "why"})
    assert caught.value.partial == "half"
    assert code in kind.code or code in str(caught.value)


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_code_has_its_own_class(code: ErrorCode) -> None:
    with pytest.raises(WarmwireError) as caught:
        take({"type": "error", "code": code})
    assert type(caught.value).code == code
    assert str(caught.value) == "the host gave no reason"


@pytest.mark.parametrize(
    "data",
    [frame(2, b"{}"), frame(1, b"{"), frame(1, b"[]"), frame(1, b""), frame(1, b"\xff"), frame(1, b'{"usage":3}x')],
)
def test_what_is_no_response_is_a_protocol_error(data: bytes) -> None:
    [item] = FrameReader().receive_data(data)
    with pytest.raises(ProtocolError, match="the host sent"):
        decode_response(item)


def test_terminals() -> None:
    assert [Response(type=t).is_terminal for t in ("frame", "done", "error", "other")] == [False, True, True, False]
    assert FRAME_JSON == 1
