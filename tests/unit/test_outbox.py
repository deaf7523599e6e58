"""What a worker's model says reaches the host whole, in order, soon, and not one message for each delta."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from tests.support import socket_pair
from warmwire.host.workers.outbox import Outbox
from warmwire.wire.generation.frames import FrameReader, encode_frame
from warmwire.wire.generation.messages import FRAME_BLOB, FRAME_JSON


def frames(sock: socket.socket) -> Iterator[tuple[int, bytes]]:
    reader = FrameReader()
    while True:
        while (frame := reader.next_frame()) is not None:
            yield frame[0], bytes(frame[1])
        reader.buffer_updated(sock.recv_into(reader.get_buffer()))


def test_what_is_said_once_arrives_without_more() -> None:
    with socket_pair() as (ours, theirs):
        outbox, arrived = Outbox(ours), frames(theirs)
        for n in range(20):
            outbox.put(b"%d" % n)
            outbox.put(b"!")
            got = b""
            while not got.endswith(b"!"):  # the second one comes by itself when the moment is over
                kind, data = next(arrived)
                assert kind == FRAME_BLOB
                got += data
            assert got == b"%d!" % n


def test_a_flood_is_gathered_and_complete() -> None:
    count = 20_000
    with socket_pair() as (ours, theirs):
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        outbox, arrived = Outbox(ours), frames(theirs)
        for n in range(count):
            outbox.put(b"%d," % n)
        outbox.say(encode_frame(FRAME_JSON, b"{}"))
        pieces = []
        while (frame := next(arrived))[0] == FRAME_BLOB:
            pieces.append(frame[1])
    assert frame == (FRAME_JSON, b"{}")
    assert b"".join(pieces) == b"".join(b"%d," % n for n in range(count))
    assert len(pieces) < count / 4
