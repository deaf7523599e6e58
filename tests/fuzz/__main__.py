"""python -m tests.fuzz [--seconds 10] [--seed N] [--target NAME]

Damages sound input at random and feeds it to the readers in random pieces. A reader may give events or raise an error
of its documented tree; any other exception, a buffer beyond its cap, or a result that depends on where the input was
cut is a failure. It is printed with the seed that brings it back, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from warmwire.errors import WarmwireError
from warmwire.layout.doctags.writer import parse
from warmwire.layout.page import Box, Line
from warmwire.layout.structure import structure
from warmwire.markov import Generation, load
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

DOCTAGS = (
    "<doctag><title><loc_1><loc_2><loc_3><loc_4>A title</title><section_header_level_2>Part</section_header_level_2>"
    "<ordered_list><list_item>1. one</list_item><list_item><unordered_list><list_item>in</list_item></unordered_list>"
    "</list_item></ordered_list><otsl><loc_5><loc_6><loc_70><loc_80><ched>a<ched>b<nl><fcel>1<lcel><nl><ucel><fcel>2<nl>"
    "<caption>Cap</caption></otsl><picture><loc_9><loc_9><loc_99><loc_99><caption>é</caption></picture><text>a < b & c"
    "</text><code><_python_>x = 1</code><formula>x^2</formula><checkbox_selected>yes</checkbox_selected></doctag>"
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

INTERESTING = [
    b"\x00",
    b"\xff",
    b"\x80" * 5,
    b"\xff\xff\xff\xff\x7f",
    b'"',
    b"{",
    b"[" * 2000,
    b"<",
    b">",
    b"</",
    b"1" * 400,
]


class Wrong(Exception):
    """A reader broke its promise."""


def damage(data: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, dropped, moved or added."""
    out = bytearray(data)
    for _ in range(rng.randint(0, 6)):
        at, count = rng.randint(0, len(out)), rng.randint(1, 8)
        match rng.randrange(7):
            case 0:
                out[at : at + 1] = rng.randbytes(1)
            case 1 if at < len(out):
                out[at] ^= 1 << rng.randrange(8)
            case 2:
                del out[at : at + count]
            case 3:
                out[at:at] = rng.randbytes(count)
            case 4:
                out[at:at] = rng.choice(INTERESTING)
            case 5:
                other = rng.randint(0, len(out))
                out[at:at] = out[other : other + rng.randint(1, 60)]
            case 6 if rng.random() < 0.3:
                del out[at:]
    return bytes(out)


def pieces(data: Any, rng: random.Random) -> Iterator[Any]:
    at = 0
    while at < len(data):
        step = rng.choice([1, 2, 7, 100, 5000])
        yield data[at : at + step]
        at += step


def outcome(run: Callable[[list[Any]], None]) -> tuple[list[Any], str]:
    """What a run gave, and how it ended."""
    got: list[Any] = []
    try:
        run(got)
    except WarmwireError as error:
        return got, f"{type(error).__name__}: {error}"
    return got, "end"


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


def read_doctags(parts: Iterator[bytes]) -> tuple[list[Any], str]:
    return list(parse(b"".join(parts).decode("utf-8", "replace"))), "end"


def read_commands(parts: Iterator[bytes]) -> tuple[list[Any], str]:
    reader = CommandReader(max_seed=64)
    commands = [command for part in parts for command in reader.feed(part)]
    if reader.pending > 1 << 13:
        raise Wrong(f"holds {reader.pending} bytes")
    return commands, f"end {reader.fault or ''}".strip()


def read_events(parts: Iterator[bytes]) -> tuple[list[Any], str]:
    reader = EventReader(max_token=64)
    events: list[Any] = []
    for part in parts:
        for event in reader.feed(part):
            if isinstance(event, Gen) and events and isinstance(events[-1], Gen) and events[-1].name == event.name:
                before = events.pop()
                event = Gen(event.name, before.data + event.data, before.tokens + event.tokens)
            events.append(event)
    return events, f"end {reader.fault or ''}".strip()


def read_model(parts: Iterator[bytes]) -> tuple[list[Any], str]:
    data = b"".join(parts)

    def run(got: list[Any]) -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            chain = load(file.name)
        for prepared in (False, True):
            if prepared:
                chain.prepare()
            got.append(bytes(Generation(chain, b"ab", rng_seed=1).take(200)))
        if got[0] != got[1]:
            raise Wrong("the graph changes the text")

    got, ended = outcome(run)
    return got, ended.replace(tempfile.gettempdir(), "").partition(": ")[0]


def read_pages(parts: Iterator[bytes]) -> tuple[list[Any], str]:
    """Bytes as a page, ten to a line, a rule or a figure: places on a grid, sizes, words."""
    data = b"".join(parts)
    lines, rules, figures = [], [], []
    words = ("word", "2.", "12.50", "–", "Total", "some words that run on over the column", "a)", "*", "Yes")
    for at in range(0, len(data) - 9, 10):
        what, x, y, width, height, text, size, bold, mono, angle = data[at : at + 10]
        box = Box(x * 3.0, y * 4.0, x * 3.0 + width - 5, y * 4.0 + (12.0 if height < 200 else height - 210.0))
        if what < 40:
            rules.append(Box(box.left, box.top, box.right, box.top + 1) if what % 2 else Box(x, y, x + 1, y + height))
        elif what < 50:
            figures.append(box)
        else:
            turn = 0.0 if angle < 250 else angle - 160.0
            lines.append(
                Line(
                    box,
                    words[text % len(words)],
                    1.0,
                    float(size % 16),
                    bold > 200,
                    True if mono > 250 else None,
                    angle=turn,
                )
            )
    skipped: list[str] = []
    found = structure(lines, 800, 1000, figures=figures, rules=rules, skipped=skipped)
    texts = [text for element in found for text in (element.text, element.marker)]
    texts += [cell.text for element in found if element.table for cell in element.table.cells]
    if skipped or sorted(" ".join(texts).split()) != sorted(" ".join(line.text for line in lines).split()):
        raise Wrong(f"skipped {skipped}, words {sorted(' '.join(texts).split())}")
    return [(element.kind, element.text) for element in found], "end"


TARGETS: dict[str, tuple[list[bytes], Callable[[Iterator[bytes]], tuple[list[Any], str]]]] = {
    "frames": ([REQUEST, RESPONSE, CHAT], read_frames),
    "requests": ([REQUEST, REQUEST + CHAT, CHAT * 2], read_requests),
    "answers": ([RESPONSE], read_answer),
    "doctags": ([DOCTAGS.encode()], read_doctags),
    "pages": ([random.Random(1).randbytes(900), bytes([60, 9, 9, 99, 9, 5, 10, 0, 0, 0] * 9)], read_pages),
    "commands": ([COMMANDS], read_commands),
    "events": ([EVENTS], read_events),
    "models": ([path.read_bytes() for path in sorted(GOLDEN.with_name("grall").glob("[!e]*.gril"))], read_model),
}


def check(name: str, seed: str) -> None:
    """One round. Raises whatever is wrong."""
    rng = random.Random(seed)
    seeds, read = TARGETS[name]
    data = damage(rng.choice(seeds), rng)
    whole, parted = read(iter([data])), read(pieces(data, rng))
    if whole != parted:
        raise Wrong(f"whole: {whole}\nin pieces: {parted}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", help="repeat one round, as printed with a failure")
    parser.add_argument("--target", choices=sorted(TARGETS))
    options = parser.parse_args()
    names = [options.target] if options.target else list(TARGETS)
    for name in names:  # undamaged input must be sound, or the rounds test nothing but refusals
        for data in TARGETS[name][0]:
            assert TARGETS[name][1](iter([data]))[1] == "end", (name, data)
    if options.seed:
        check(options.seed.partition("/")[0], options.seed)
        return 0
    start, run = time.monotonic(), random.randrange(1 << 32)
    rounds = 0
    while time.monotonic() - start < options.seconds:
        name = names[rounds % len(names)]
        seed = f"{name}/{run}/{rounds}"
        try:
            check(name, seed)
        except Exception:
            traceback.print_exc()
            print(f"fuzz: failed; again with: python -m tests.fuzz --seed {seed}", file=sys.stderr)
            return 1
        rounds += 1
    print(f"fuzz: {rounds} rounds of {', '.join(names)} in {options.seconds:g} s, nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
