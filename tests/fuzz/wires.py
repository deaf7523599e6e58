"""Targets: what comes on sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.fuzz.target import Outcome, Target, Wrong, outcome
from warmwire.wire.admin import HostStatus, count_of, decode_status
from warmwire.wire.generation.frames import FrameReader, encode_frame, pour
from warmwire.wire.generation.messages import FRAME_JSON, MAX_ATTACHMENT_BYTES, MAX_FRAME
from warmwire.wire.generation.request import RequestReader
from warmwire.wire.generation.response import Answer, decode_response
from warmwire.wire.generation.validate import validate
from warmwire.wire.grall import (
    Close,
    CommandReader,
    Delay,
    End,
    EventReader,
    Gen,
    New,
    Ping,
    Unknown,
    encode_command,
    encode_end,
    encode_tokens,
    unknown_opcode,
)
from warmwire.wire.lines import LineReader
from warmwire.wire.tasks import EmbedRequest, RerankRequest, TaskReader, decode_task_response

GOLDEN = Path(__file__).parent.parent / "data" / "inferd"
REQUEST = (GOLDEN / "page_request.bin").read_bytes()
RESPONSE = (GOLDEN / "page_response.bin").read_bytes()

CHAT = encode_frame(
    FRAME_JSON,
    b'{"wire_version":1,"id":"c","messages":[{"role":"system","content":[{"type":"text","text":"s"}]},'
    b'{"role":"assistant","content":[{"type":"tool_use","tool_call_id":"t","name":"f","input":{"x":[1,null]}}]},'
    b'{"role":"user","content":[{"type":"tool_result","tool_call_id":"t","content":[{"type":"text","text":""}]}]}],'
    b'"tools":[{"name":"f","description":"","input_schema":{}}],"tool_choice":"auto","stream":false}',
)

COMMANDS = b"".join(
    encode_command(command)
    for command in (
        Ping(),
        New(b"g", b"abab", 8, 0),
        Delay(b"g", 5),
        New(b"", b"", 0, 9),
        Unknown(9),
        End(b"g"),
        Close(),
    )
)
EVENTS = (
    b"\x01"
    + encode_tokens(b"g", b"0123456789" * 30)
    + encode_tokens(b"h", b"ab")
    + encode_end(b"g")
    + unknown_opcode(9)
)


def bounded(budget: int) -> Callable[[int], bytearray]:
    left = budget

    def allocate(size: int) -> bytearray:
        nonlocal left
        left -= size
        if size > MAX_FRAME or left < 0:
            raise Wrong(f"asked for a buffer of {size} bytes")
        return bytearray(size)

    return allocate


def read_frames(parts: Iterator[bytes]) -> tuple[list[Any], str]:
    def run(got: list[Any]) -> None:
        reader = FrameReader(bounded(1 << 40))
        for part in parts:
            for kind, payload in pour(part, reader.get_buffer, reader.buffer_updated, reader.next_frame):
                got.append((kind, bytes(payload)))
        reader.receive_eof()

    return outcome(run)


def read_requests(parts: Iterator[bytes]) -> tuple[list[Any], str]:
    def run(got: list[Any]) -> None:
        reader = RequestReader(bounded(3 * MAX_ATTACHMENT_BYTES))
        for part in parts:
            for request in pour(part, reader.get_buffer, reader.buffer_updated, reader.next_request):
                got.append((request.id, [bytes(a.data) for a in request.attachments]))
                got.append(outcome(lambda _, request=request: validate(request))[1])
        reader.receive_eof()

    return outcome(run)


def read_answer(parts: Iterator[bytes]) -> tuple[list[Any], str]:
    def run(got: list[Any]) -> None:
        reader, answer = FrameReader(), Answer()
        for part in parts:
            frames = pour(part, reader.get_buffer, reader.buffer_updated, reader.next_frame)
            got.extend(answer.take(decode_response(item)) for item in frames)
        reader.receive_eof()

    return outcome(run)


def read_commands(parts: Iterator[bytes]) -> Outcome:
    reader = CommandReader(max_seed=64)
    commands = [command for part in parts for command in reader.feed(part)]
    if reader.pending > 1 << 13:
        raise Wrong(f"holds {reader.pending} bytes")
    return commands, f"end {reader.fault or ''}".strip()


def read_events(parts: Iterator[bytes]) -> Outcome:
    reader = EventReader(max_token=64)
    events: list[Any] = []
    for part in parts:
        for event in reader.feed(part):
            if isinstance(event, Gen) and events and isinstance(events[-1], Gen) and events[-1].name == event.name:
                before = events.pop()
                event = Gen(event.name, before.data + event.data, before.tokens + event.tokens)
            events.append(event)
    return events, f"end {reader.fault or ''}".strip()


ADMIN = (
    b'{"id":"admin","type":"status","status":"capabilities","backend":"echo","wire_version":1,"v2":true}\n'
    b'{"id":"admin","type":"status","status":"loading_model","phase":"mmap","path":"x"}\n'
    b'{"id":"admin","type":"status","status":"activity","running":1,"waiting":0,"idle":0.5}\n'
)
TASKS = (
    b'{"id":"x","input":["a","b"],"dimensions":4,"task":"query"}\n'
    b'{"id":"y","query":"q","documents":["d","e"],"top_n":1}\n'
    b'{"type":"rerank","id":"y","results":[{"index":0,"score":0.5}],"model":"m","usage":{"input_tokens":3},"backend":"b"}\n'
)


def lines_of(parts: Iterator[bytes]) -> Iterator[bytes]:
    reader = LineReader()
    for part in parts:
        yield from reader.receive_data(part)
    reader.receive_eof()
    while (line := reader.next_line()) is not None:
        yield line


def read_admin(parts: Iterator[bytes]) -> Outcome:
    def run(got: list[Any]) -> None:
        status = HostStatus()
        for line in lines_of(parts):
            got.append(status.take(decode_status(line)))
            got.append(count_of(status.activity or {}, "running"))

    return outcome(run)


def read_tasks(parts: Iterator[bytes]) -> Outcome:
    """Requests and responses of embeddings and rerank; each line is read as all of them."""

    def run(got: list[Any]) -> None:
        for line in lines_of(parts):
            for take in (partial(_task, kind=EmbedRequest), partial(_task, kind=RerankRequest), decode_task_response):
                got += [outcome(lambda said, take=take, line=line: said.append(take(line)))]

    return outcome(run)


def _task(line: bytes, kind: Any) -> Any:
    reader = TaskReader(kind)
    (request,) = pour(line + b"\n", reader.get_buffer, reader.buffer_updated, reader.next_request)
    request.validate()
    return request


TARGETS = {
    "frames": Target([REQUEST, RESPONSE, CHAT], read_frames, ("wire.generation.frames",)),
    "requests": Target(
        [REQUEST, REQUEST + CHAT, CHAT * 2],
        read_requests,
        ("wire.generation.request", "wire.generation.validate", "wire.generation.frames"),
    ),
    "answers": Target([RESPONSE], read_answer, ("wire.generation.response", "wire.generation.frames")),
    "admin": Target([ADMIN], read_admin, ("wire.admin", "wire.lines")),
    "tasks": Target([TASKS], read_tasks, ("wire.tasks", "wire.lines")),
    "commands": Target([COMMANDS], read_commands, ("wire.grall",)),
    "events": Target([EVENTS], read_events, ("wire.grall",)),
}
