"""The clients: one class of tests, run with the blocking client and with the asyncio one."""

from __future__ import annotations

import asyncio
import os
import socket
import threading

import numpy as np
import pytest

from tests.client_support import DELTA, DONE, Clients, in_thread, saying, scripted_server
from tests.support import (
    GOLDEN_RESPONSE,
    LOOPS,
    PATIENCE,
    Gate,
    HostThread,
    Script,
    Start,
    frame,
    json_frame,
    random_image,
    without_privileges,
)
from warmwire.client import (
    AsyncClient,
    BackendUnavailableError,
    CancelledError,
    DialError,
    FrameTooLargeError,
    InternalError,
    InvalidRequestError,
    ProtocolError,
    QueueFullError,
    RequestError,
    StreamLostError,
    UsageError,
    WarmwireError,
)
from warmwire.models.echo import EchoModel
from warmwire.transport.conn import Conn
from warmwire.wire.generation.messages import MAX_FRAME, Attachment, Message, OutBlock, Request, Usage, text_block


class TestClient:
    # ------------------------------------------------------------------ answers

    def test_text_comes_in_deltas_and_as_a_whole(self, client_class: Clients, start: Start) -> None:
        host = start(EchoModel())
        with client_class(host.path) as client:
            with client.ask("one two  three") as stream:
                assert list(stream) == ["one", " two", "  three"]
            assert stream.answer.text == "one two  three"
            assert (stream.answer.usage, stream.answer.backend) == (Usage(3, 3), "echo")
            assert stream.answer.stop_reason == "end_turn"
            assert client.ask("again").text() == "again"

    def test_images_of_any_kind(self, client_class: Clients, start: Start) -> None:
        from PIL import Image

        host = start(EchoModel())
        images = [
            random_image(20, 30),
            np.zeros((3, 4), np.uint8),
            Image.new("RGBA", (7, 5)),
            random_image(40, 20)[::2],
        ]
        with client_class(host.path) as client:
            text = client.ask("look", images=images, system="be brief").text()
        assert text == "[image image-1 30x20][image image-2 4x3][image image-3 7x5][image image-4 20x20]look"

    def test_a_large_page(self, client_class: Clients, start: Start) -> None:
        image = random_image(2200, 1700)
        script = Script(lambda request, emit, cancelled: seen.append(bytes(request.attachments[0].data)))
        seen: list[bytes] = []
        host = start(script)
        with client_class(host.path) as client:
            for _ in range(3):
                client.ask("read", images=[image]).text()
        assert seen == [image.tobytes()] * 3

    def test_every_block_is_seen_and_text_alone_is_text(self, client_class: Clients, start: Start) -> None:
        blocks = [
            OutBlock("thinking", "hm"),
            OutBlock("text", "a"),
            OutBlock("tool_use", tool_call_id="t", name="f", input={"x": [1]}),
            OutBlock("text", "b"),
        ]
        host = start(Script(lambda request, emit, cancelled: [emit(b) for b in blocks] and None))
        with client_class(host.path) as client:
            assert list(client.ask("x").blocks()) == blocks
            assert list(client.ask("x")) == ["a", "b"]
            stream = client.ask("x")
            assert stream.text() == "ab"
            assert [call.name for call in stream.answer.tool_calls] == ["f"]

    def test_max_tokens_is_a_stop_reason(self, client_class: Clients, start: Start) -> None:
        host = start(EchoModel())
        with client_class(host.path) as client:
            stream = client.ask("one two three", max_tokens=2)
            assert stream.text() == "one two"
            assert stream.answer.stop_reason == "max_tokens"

    def test_the_golden_answer(self, client_class: Clients, path: str) -> None:
        pieces = [GOLDEN_RESPONSE[i : i + 1] for i in range(len(GOLDEN_RESPONSE))]
        with scripted_server(path, saying(*pieces)), client_class(path) as client:
            assert client.ask("x").text() == "<doctag><text>héllo & <world></text>\n</doctag>"

    def test_unknown_things_are_passed_over(self, client_class: Clients, path: str) -> None:
        progress = json_frame({"type": "progress", "percent": 3})
        odd = json_frame({"type": "frame", "block": {"type": "scent", "rose": 1}})
        with scripted_server(path, saying(progress, DELTA, odd, DONE)), client_class(path) as client:
            assert client.ask("x").text() == "half "

    # ------------------------------------------------------------------ errors

    @pytest.mark.parametrize(
        ("code", "kind"),
        [
            ("queue_full", QueueFullError),
            ("backend_unavailable", BackendUnavailableError),
            ("invalid_request", InvalidRequestError),
            ("frame_too_large", FrameTooLargeError),
            ("internal", InternalError),
            ("unheard_of", RequestError),
        ],
    )
    def test_an_error_frame_keeps_the_text(
        self, client_class: Clients, path: str, code: str, kind: type[WarmwireError]
    ) -> None:
        error = json_frame({"id": "", "type": "error", "code": code, "message": "why"})
        with scripted_server(path, saying(DELTA, error), saying(DONE)), client_class(path) as client:
            with client.ask("x") as stream, pytest.raises(kind, match="why") as caught:
                stream.text()
            assert caught.value.partial == "half "
            assert client.ask("again").text() == ""

    @pytest.mark.parametrize(
        "last",
        [b"", b"\x80", b"\x05\x01{", frame(1, b" " * 100_000)[:-1]],
        ids=["between frames", "in a length", "in a frame", "in a large frame"],
    )
    def test_an_end_without_a_terminal_is_an_error(self, client_class: Clients, path: str, last: bytes) -> None:
        with scripted_server(path, saying(DELTA, DELTA, last), saying(DONE)), client_class(path) as client:
            with pytest.raises(StreamLostError, match="before the answer ended") as caught:
                client.ask("x").text()
            assert caught.value.partial == "half half "
            assert client.ask("on a new connection").text() == ""

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (frame(2, b"blob"), "blob frame"),
            (frame(1, b"{"), "cannot be read"),
            (b"\x02\x07{}", "unknown frame type 0x07"),
            (b"\xff\xff\xff\xff\x7f\x01", "exceeds"),
            (b"\xff\xff\xff\xff\xff", "5 bytes"),
        ],
    )
    def test_what_is_no_answer_is_a_protocol_error(
        self, client_class: Clients, path: str, data: bytes, message: str
    ) -> None:
        with scripted_server(path, saying(DELTA, data)), client_class(path) as client:
            with pytest.raises(ProtocolError, match=message) as caught:
                client.ask("x").text()
            assert caught.value.partial == "half "

    def test_a_refusal_while_sending_is_read(self, client_class: Clients, path: str) -> None:
        """The host says no after the first bytes of a long upload and closes; the client must find out why."""
        error = json_frame({"id": "", "type": "error", "code": "frame_too_large", "message": "too much"})

        def script(conn: Conn) -> None:
            conn.read_frame()
            conn.sock.sendall(error)

        image = random_image(2000, 2000)
        with scripted_server(path, script, script), client_class(path) as client:
            for _ in range(2):
                with pytest.raises(FrameTooLargeError, match="too much"):
                    client.ask("x", images=[image]).text()

    def test_what_the_wire_cannot_carry_is_not_sent(self, client_class: Clients, start: Start) -> None:
        host = start(EchoModel())
        messages = [Message("user", [text_block("x")])]
        with client_class(host.path) as client:
            with pytest.raises(InvalidRequestError, match="33"):
                client.generate(
                    Request(messages=messages, attachments=[Attachment("image", str(n)) for n in range(33)])
                )
            with pytest.raises(FrameTooLargeError):
                client.ask("x" * (MAX_FRAME + 1))
            assert client.ask("x").text() == "x"

    # ------------------------------------------------------------------ turns and cancelling

    def test_one_answer_at_a_time(self, client_class: Clients, start: Start) -> None:
        gate = Gate()
        host = start(gate)
        with client_class(host.path) as client:
            stream = client.ask("k")
            with pytest.raises(UsageError, match="another answer is under way"):
                client.ask("second")
            gate.open("k")
            assert stream.text() == "<k></k>"
            gate.open("third")
            assert client.ask("third").text() == "<third></third>"

    def test_leaving_a_stream_cancels_it(self, client_class: Clients, start: Start) -> None:
        gate = Gate()
        host = start(gate)
        with client_class(host.path) as client:
            with client.ask("k") as stream:
                assert next(iter(stream)) == "<k>"
            gate.wait_ended("k")
            gate.open("next")
            assert client.ask("next").text() == "<next></next>"
        assert gate.cancelled == ["k"]

    def test_text_that_came_before_a_cancel_does_not_bring_the_answer_back(
        self, client_class: Clients, path: str
    ) -> None:
        with scripted_server(path, saying(DELTA + DELTA), saying(DONE)), client_class(path) as client:
            stream = client.ask("x")
            texts = iter(stream)
            assert next(texts) == "half "
            stream.cancel()
            assert next(texts) == "half "
            assert client.ask("again").text() == ""

    def test_closing_the_client_cancels(self, client_class: Clients, start: Start) -> None:
        gate = Gate()
        host = start(gate)
        client = client_class(host.path)
        client.ask("k")
        gate.wait_running("k")
        client.close()
        client.close()
        gate.wait_ended("k")
        assert gate.cancelled == ["k"]

    @pytest.mark.parametrize("how", ["stream", "client"])
    def test_cancel_from_elsewhere_wakes_the_reader(self, client_class: Clients, start: Start, how: str) -> None:
        gate = Gate()
        host = start(gate)
        with client_class(host.path) as client:
            stream = client.ask("k")
            iterator = iter(stream)
            assert next(iterator) == "<k>"
            reader = in_thread(lambda: list(iterator))
            threading.Event().wait(0.05)  # let it block in the read; without it the test is easier, not wrong
            stream.cancel() if how == "stream" else client.close()
            with pytest.raises(CancelledError) as caught:
                reader.result(PATIENCE)
            assert caught.value.partial == "<k>"
            gate.wait_ended("k")
            assert gate.cancelled == ["k"]
            gate.open("next")
            assert client.ask("next").text() == "<next></next>"

    def test_closing_while_a_request_is_being_sent(self, client_class: Clients, path: str) -> None:
        accepted, leave = threading.Event(), threading.Event()

        def script(conn: Conn) -> None:
            conn.read_frame()
            accepted.set()
            leave.wait(PATIENCE)

        with scripted_server(path, script), client_class(path) as client:
            sender = in_thread(lambda: client.ask("x", images=[random_image(3000, 3000)]))
            assert accepted.wait(PATIENCE)
            client.close()
            with pytest.raises(CancelledError, match="closed while the request was being sent"):
                sender.result(PATIENCE)
            leave.set()

    # ------------------------------------------------------------------ connecting

    def test_an_idle_connection_that_the_host_ended_is_made_again(self, client_class: Clients, path: str) -> None:
        server = scripted_server(path, saying(DELTA, DONE), saying(DELTA, DONE))
        with server as closed, client_class(path) as client:
            assert client.ask("x").text() == "half "
            assert closed[0].wait(PATIENCE)
            assert client.ask("x").text() == "half "

    def test_a_host_that_ends_every_connection_is_not_asked_for_ever(self, client_class: Clients, path: str) -> None:
        with (
            scripted_server(path, lambda conn: None),
            client_class(path, wait=0) as client,
            pytest.raises((StreamLostError, DialError)),
        ):
            client.ask("x").text()

    def test_after_an_error_that_closes_the_next_request_takes_a_new_connection(
        self, client_class: Clients, start: Start
    ) -> None:
        """The host still reads and throws away for a moment; what is sent there would be lost."""
        host = start(EchoModel())
        with client_class(host.path) as client:
            for _ in range(5):
                with pytest.raises(RequestError, match="wire_version 7"):
                    client.generate(Request(wire_version=7, messages=[Message("user", [text_block("x")])])).text()
                assert client.ask("next").text() == "next"

    def test_a_host_that_is_not_yet_there_is_waited_for(self, client_class: Clients, path: str) -> None:
        client = client_class(path)
        waiting = in_thread(lambda: client.ask("x").text())
        threading.Event().wait(0.15)
        assert not waiting.done()
        with HostThread(EchoModel(), path):
            assert waiting.result(PATIENCE) == "x"
            client.close()

    def test_a_socket_without_a_host_is_waited_for(self, client_class: Clients, path: str) -> None:
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(path)
        client = client_class(path)
        waiting = in_thread(lambda: client.ask("x").text())
        with HostThread(EchoModel(), path):
            assert waiting.result(PATIENCE) == "x"
            client.close()

    @pytest.mark.parametrize("kind", ["nothing", "dead socket", "file", "too long", "datagram"])
    def test_an_address_without_a_host_is_explained(self, client_class: Clients, path: str, kind: str) -> None:
        message = {
            "nothing": f"no host listens at {path} .* start one with: warmwire serve MODEL --socket {path}",
            "dead socket": f"no host listens at {path} .connection refused .* its host has ended",
            "file": path,
            "too long": "the system's limit is",
            "datagram": f"{path} is not a stream socket",
        }[kind]
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_STREAM)
        with sock:
            if kind in ("dead socket", "datagram"):
                sock.bind(path)
            if kind == "dead socket":
                sock.close()
            if kind == "file":
                open(path, "w").close()
            address = "/tmp/" + "x" * 200 if kind == "too long" else path
            with client_class(address, wait=0.1) as client:
                with pytest.raises((DialError, UsageError), match=message):
                    client.connect()
                with pytest.raises((DialError, UsageError)):
                    client.ask("x")

    def test_permission_denied_is_final(self, client_class: Clients, path: str) -> None:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(path)
            os.chmod(path, 0)
            sock.listen()
            os.chmod(os.path.dirname(path), 0o755)
            with (
                client_class(path, wait=1000) as client,
                without_privileges(),
                pytest.raises(DialError, match=f"permission denied at {path}: the host runs as another user"),
            ):
                client.connect()


def test_a_cancelled_task_takes_its_answer_along(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate)

    async def main() -> None:
        async with AsyncClient(host.path) as client:
            stream = await client.ask("k")
            reading = asyncio.create_task(stream.text())
            await asyncio.to_thread(gate.wait_running, "k")
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            await asyncio.to_thread(gate.wait_ended, "k")
            gate.open("next")
            assert await (await client.ask("next")).text() == "<next></next>"

    with asyncio.Runner(loop_factory=LOOPS[loop_name]) as runner:
        runner.run(main())
    assert gate.cancelled == ["k"]


def test_many_async_clients_in_one_loop(start: Start, loop_name: str) -> None:
    host = start(EchoModel(), workers=2, queue_depth=100)

    async def one(n: int) -> str:
        async with AsyncClient(host.path) as client:
            return "".join([text async for text in await client.ask(f"client {n}", images=[random_image(99, 99)])])

    async def main() -> list[str]:
        return await asyncio.gather(*(one(n) for n in range(50)))

    with asyncio.Runner(loop_factory=LOOPS[loop_name]) as runner:
        assert runner.run(main()) == [f"[image image-1 99x99]client {n}" for n in range(50)]
