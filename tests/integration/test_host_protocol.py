"""The malformed-input table of the wire, row by row: code, echoed id, keep or close; and what stays on one connection.

Every row is run against a host on each event loop, whole and byte by byte.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import (
    GOLDEN_REQUEST,
    LOOPS,
    HostThread,
    Peer,
    blob_pair,
    descriptor,
    frame,
    image_body,
    json_frame,
    text_body,
    uvarint,
)
from warmwire.models.echo import EchoModel
from warmwire.wire.generation.messages import MAX_FRAME

PIXELS = bytes(6)
GOOD = json_frame(text_body("still here", id="good"))


@pytest.fixture(scope="module", params=sorted(LOOPS))
def host(request: pytest.FixtureRequest) -> Iterator[HostThread]:
    with (
        tempfile.TemporaryDirectory(prefix="ww-", dir="/tmp") as directory,
        HostThread(EchoModel(), f"{directory}/s", loop=request.param) as host,
    ):
        yield host


def send(peer: Peer, data: bytes, *, whole: bool) -> None:
    if whole:
        peer.send(data)
    else:
        peer.send(*(data[i : i + 1] for i in range(len(data))))


def without(body: dict[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in body.items() if k != key}


IMAGE = json_frame(image_body("a", "b"))
MANY = [f"i{n}" for n in range(33)]

CLOSING: dict[str, tuple[bytes, str, str, str]] = {
    # name: bytes, code, echoed id, part of the message
    "length too long": (b"\x80\x80\x80\x80\x80", "invalid_request", "", "does not end within 5 bytes"),
    "length over the cap": (uvarint(MAX_FRAME + 1) + b"\x01", "frame_too_large", "", f"frame exceeds {MAX_FRAME}"),
    "type 0": (b"\x02\x00{}", "invalid_request", "", "unknown frame type 0x00"),
    "type 3": (b"\x02\x03{}", "invalid_request", "", "unknown frame type 0x03"),
    "http": (b"GET / HTTP/1.1\r\n\r\n", "invalid_request", "", "unknown frame type 0x45"),
    "blob for a request": (frame(2, b"x"), "invalid_request", "", "blob frame"),
    "empty payload": (frame(1, b""), "invalid_request", "", "decode: "),
    "not json": (frame(1, b"{nope"), "invalid_request", "", "decode: "),
    "not utf-8": (frame(1, b'{"id":"\xff"}'), "invalid_request", "", "decode: "),
    "not an object": (frame(1, b"[]"), "invalid_request", "", "decode: "),
    "no messages": (json_frame({"wire_version": 1, "id": "r"}), "invalid_request", "", "missing required field"),
    "role tool": (
        json_frame({"wire_version": 1, "id": "r", "messages": [{"role": "tool", "content": []}]}),
        *("invalid_request", "", "decode: "),
    ),
    "negative u32": (json_frame(text_body(max_tokens=-1)), "invalid_request", "", "max_tokens"),
    "response_format": (json_frame(text_body(response_format={"type": "xml"})), "invalid_request", "", "decode: "),
    "tool_choice object": (json_frame(text_body(tool_choice={})), "invalid_request", "", "tool_choice"),
    "repeated key": (
        frame(1, b'{"wire_version":1,"id":"r","id":"s","messages":[]}'),
        *("invalid_request", "", "repeats the key 'id'"),
    ),
    "no version": (
        json_frame(without(text_body(), "wire_version")),
        *("wire_version_unsupported", "r", "unsupported wire_version 0: this host speaks wire_version 1"),
    ),
    "version 2": (
        json_frame(text_body(wire_version=2)),
        *("wire_version_unsupported", "r", "unsupported wire_version 2"),
    ),
    "body before version": (json_frame({"wire_version": 2, "id": "r"}), "invalid_request", "", "decode: "),
    "33 attachments": (
        json_frame(image_body(*MANY)),
        *("invalid_request", "r", "request declares 33 attachments; at most 32 allowed"),
    ),
    "descriptor over the frame cap": (IMAGE + descriptor("a", MAX_FRAME + 1), "frame_too_large", "r", "byte cap"),
    "descriptor not json": (IMAGE + frame(1, b"?"), "invalid_request", "r", "descriptor"),
    "descriptor of another type": (
        IMAGE + json_frame({"type": "x", "attachment_id": "a", "len": 6}),
        *("invalid_request", "r", "attachment_blob"),
    ),
    "blob before descriptor": (IMAGE + frame(2, PIXELS), "invalid_request", "r", "without its descriptor"),
    "descriptor twice": (IMAGE + descriptor("a", 6) * 2, "invalid_request", "r", "blob of attachment 'a' is missing"),
    "blob longer": (IMAGE + descriptor("a", 5) + frame(2, PIXELS), "invalid_request", "r", "says 5 bytes"),
    "blob shorter": (IMAGE + descriptor("a", 7) + frame(2, PIXELS), "invalid_request", "r", "says 7 bytes"),
    "unknown attachment": (IMAGE + blob_pair("zz", PIXELS), "invalid_request", "r", "'zz'"),
    "attachment filled twice": (IMAGE + blob_pair("a", PIXELS) * 2, "invalid_request", "r", "'a'"),
}


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "bytewise"])
@pytest.mark.parametrize("name", CLOSING)
def test_an_error_that_closes(host: HostThread, name: str, whole: bool) -> None:
    data, code, id, message = CLOSING[name]
    with host.peer() as peer:
        send(peer, data, whole=whole)
        response = peer.receive()
        assert response is not None
        assert (response["type"], response["code"], response["id"]) == ("error", code, id)
        assert message in response["message"]
        assert peer.at_end()
    with host.peer() as peer:
        assert peer.ask("next")[0] == "next"


@pytest.mark.parametrize("name", CLOSING)
def test_a_client_that_goes_on_writing_still_reads_the_error(host: HostThread, name: str) -> None:
    """Closing with input unread would make the error frame unreadable."""
    data, code, _, _ = CLOSING[name]
    with host.peer() as peer:
        try:
            peer.send(data, b"x" * (1 << 20))
        except BrokenPipeError:
            pytest.fail("the host closed before the client had read its error")
        assert (peer.receive() or {})["code"] == code
        assert peer.at_end()


CUT: dict[str, tuple[bytes, str]] = {
    "in the length": (b"\x80", ""),
    "before the type": (b"\x02", ""),
    "in the payload": (b"\x02\x01{", ""),
    "in a large payload": (uvarint(1 << 20) + b"\x01" + b"x" * 1000, ""),
    "before the blobs": (IMAGE, "r"),
    "in a descriptor": (IMAGE + descriptor("a", 6)[:-1], "r"),
    "before a blob": (IMAGE + descriptor("a", 6), "r"),
    "in a blob": (IMAGE + descriptor("a", 6) + b"\x06\x02abc", "r"),
    "between the blobs": (IMAGE + blob_pair("a", PIXELS), "r"),
}


@pytest.mark.parametrize("name", CUT)
def test_a_stream_cut_short_is_told_so_far_as_it_still_listens(host: HostThread, name: str) -> None:
    data, id = CUT[name]
    with host.peer() as peer:
        peer.send(data)
        peer.shutdown()
        response = peer.receive()
        assert response is not None
        assert (response["type"], response["code"], response["id"]) == ("error", "invalid_request", id)
        assert peer.at_end()


def test_eof_before_a_frame_is_a_clean_close(host: HostThread) -> None:
    with host.peer() as peer:
        peer.shutdown()
        assert peer.at_end()


VIDEO = {"kind": "video", "id": "v"}
TOOL = {"name": "f", "description": "", "input_schema": {}}

KEEPING: dict[str, tuple[bytes, str, str]] = {
    "no messages": (json_frame(text_body() | {"messages": []}), "invalid_request", "messages must not be empty"),
    "empty content": (
        json_frame(text_body() | {"messages": [{"role": "user", "content": []}]}),
        *("invalid_request", "messages[0].content must not be empty"),
    ),
    "unknown kind": (
        json_frame(text_body(attachments=[{"kind": "scent", "id": "s"}])),
        *("invalid_request", "unknown kind 'scent'"),
    ),
    "video": (json_frame(text_body(attachments=[VIDEO])), "attachment_unsupported", "video is not supported"),
    "video twice": (json_frame(text_body(attachments=[VIDEO, VIDEO])), "invalid_request", "repeats the id 'v'"),
    "tool twice": (json_frame(text_body(tools=[TOOL, TOOL])), "invalid_request", "tools repeat the name 'f'"),
    "tool_choice": (json_frame(text_body(tools=[TOOL], tool_choice="any")), "invalid_request", "'any'"),
    "tool_choice alone": (json_frame(text_body(tool_choice="auto")), "invalid_request", "tool_choice needs tools"),
    "dangling": (
        json_frame(
            text_body() | {"messages": [{"role": "user", "content": [{"type": "image", "attachment_id": "lost"}]}]}
        ),
        *("invalid_request", "'lost'"),
    ),
    "unknown block": (
        json_frame(text_body() | {"messages": [{"role": "user", "content": [{"type": "scent"}]}]}),
        *("invalid_request", "unknown content-block type 'scent'"),
    ),
    "axis": (json_frame(image_body("a", width=65537)) + blob_pair("a", PIXELS), "invalid_request", "65537x1"),
    "image size": (json_frame(image_body("a", width=3)) + blob_pair("a", PIXELS), "invalid_request", "needs 9 bytes"),
    "audio size": (
        json_frame(text_body(attachments=[{"kind": "audio", "id": "a", "sample_rate": 1}])) + blob_pair("a", b"abc"),
        *("invalid_request", "not whole float32 samples"),
    ),
}


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "bytewise"])
@pytest.mark.parametrize("name", KEEPING)
def test_an_error_that_keeps_the_connection(host: HostThread, name: str, whole: bool) -> None:
    data, code, message = KEEPING[name]
    with host.peer() as peer:
        for _ in range(2):
            send(peer, data + GOOD, whole=whole)
            response = peer.receive()
            assert response is not None
            assert (response["type"], response["code"], response["id"]) == ("error", code, "r")
            assert message in response["message"]
            text, done = peer.answer()
            assert (text, done["id"], done["type"]) == ("still here", "good", "done")


def test_blobs_over_the_budget_are_refused_at_the_descriptor(host: HostThread) -> None:
    blob = bytes(MAX_FRAME)
    body = image_body("a", "b", "c", width=1 << 16, height=1 << 16)
    with host.peer() as peer:
        peer.send(json_frame(body), blob_pair("a", blob), blob_pair("b", blob), descriptor("c", 1))
        response = peer.receive()
        assert response is not None
        assert (response["code"], response["id"]) == ("frame_too_large", "r")
        assert peer.at_end()


def test_32_attachments(host: HostThread) -> None:
    ids = MANY[:32]
    with host.peer() as peer:
        peer.send(json_frame(image_body(*ids)), *(blob_pair(i, PIXELS) for i in reversed(ids)))
        text, _ = peer.answer()
        assert text == "".join(f"[image {i} 2x1]" for i in ids) + "read"


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_golden_request(host: HostThread, step: int) -> None:
    with host.peer() as peer:
        peer.send(*(GOLDEN_REQUEST[i : i + step] for i in range(0, len(GOLDEN_REQUEST), step)))
        text, done = peer.answer()
        assert text == "[image page-1 3x2]Convert this page to docling."
        assert (done["id"], done["stop_reason"], done["backend"]) == ("page-1", "end_turn", "echo")


def test_requests_written_ahead_are_answered_in_order(host: HostThread) -> None:
    with host.peer() as peer:
        requests = [json_frame(text_body(f"request {n}", id=str(n))) for n in range(50)]
        peer.send(b"".join(requests[:25]) + GOLDEN_REQUEST + b"".join(requests[25:]))
        answers = [peer.answer() for _ in range(51)]
        assert [done["id"] for _, done in answers] == [*map(str, range(25)), "page-1", *map(str, range(25, 50))]
        assert [text for text, _ in answers[:3]] == ["request 0", "request 1", "request 2"]


def test_requests_written_ahead_of_a_half_close_are_all_answered(host: HostThread) -> None:
    with host.peer() as peer:
        peer.send(b"".join(json_frame(text_body(f"request {n}", id=str(n))) for n in range(20)))
        peer.shutdown()
        assert [peer.answer()[1]["id"] for _ in range(20)] == [str(n) for n in range(20)]
        assert peer.at_end()


def test_deltas_carry_the_id_and_come_before_the_terminal(host: HostThread) -> None:
    with host.peer() as peer:
        peer.send(json_frame(text_body("one two", id="é\n")))
        responses = [peer.receive() for _ in range(3)]
        assert [r and r["id"] for r in responses] == ["é\n"] * 3
        assert [r and r["type"] for r in responses] == ["frame", "frame", "done"]


def test_stream_false_gets_the_terminal_alone(host: HostThread) -> None:
    with host.peer() as peer:
        peer.send(json_frame(text_body("one two", stream=False)))
        response = peer.receive()
        assert response is not None
        assert response["type"] == "done"
        assert response["usage"] == {"input_tokens": 2, "output_tokens": 2}
        assert peer.ask("and on")[0] == "and on"


def test_an_id_may_be_missing_and_is_echoed_empty(host: HostThread) -> None:
    with host.peer() as peer:
        peer.send(json_frame(without(text_body("x"), "id")))
        assert [(r or {})["id"] for r in (peer.receive(), peer.receive())] == ["", ""]


def test_an_empty_text_is_legal(host: HostThread) -> None:
    with host.peer() as peer:
        assert peer.ask("")[1]["type"] == "done"


def test_a_large_body(host: HostThread) -> None:
    text = ("w" * 1000 + " ") * 2000
    with host.peer() as peer:
        assert peer.ask(text)[0] == text
