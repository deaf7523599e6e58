"""The library's server: `listen`, `serve` and `Conn`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import warmwire
from tests.reader_support import PAGE, Reader, listening
from tests.support import (
    GOLDEN_REQUEST,
    PATIENCE,
    Peer,
    blob_pair,
    eventually,
    json_frame,
    random_image,
    socket_pair,
    text_body,
)
from warmwire.client import DialError, InternalError, ProtocolError, WarmwireError
from warmwire.errors import ListenError, UsageError
from warmwire.models.interface import Finish, PageModel

# ---------------------------------------------------------------------- the listener


def ask_page(peer: Peer) -> tuple[str, dict[str, Any]]:
    peer.send(GOLDEN_REQUEST)
    return peer.answer()


def test_what_is_not_a_page_is_refused_by_name(path: str) -> None:
    image = {"kind": "image", "id": "a", "width": 1, "height": 1}
    refusals = [
        (text_body(), "0 image and 1 text blocks"),
        (text_body(tools=[{"name": "f"}]), "takes no tools"),
        (
            text_body() | {"messages": [{"role": "system", "content": [{"type": "text", "text": "s"}]}]},
            "one user message",
        ),
        (text_body() | {"messages": text_body()["messages"] * 2}, "one user message"),
        (
            text_body()
            | {"messages": [{"role": "user", "content": [{"type": "tool_use", "tool_call_id": "t", "name": "f"}]}]},
            "takes no tool_use block",
        ),
        (text_body(attachments=[image | {"id": i} for i in "ab"]), "2 attachments"),
    ]
    with listening(Reader(), path), Peer(path) as peer:
        for body, message in refusals:
            peer.send(json_frame(body))
            for attachment in body.get("attachments", []):
                peer.send(blob_pair(attachment["id"], bytes(3)))
            _, error = peer.answer()
            assert (error["code"], error["id"]) == ("invalid_request", "r")
            assert message in error["message"]
        assert ask_page(peer)[1]["type"] == "done"


def test_a_failing_handler_keeps_the_connection(path: str) -> None:
    with listening(Reader(), path), Peer(path) as peer:
        peer.send(GOLDEN_REQUEST.replace(b"Convert this page to docling.", b"fail".ljust(29)))
        text, error = peer.answer()
        assert text == "<doctag>3x2 sum=129 "
        assert (error["code"], error["id"]) == ("internal", "page-1")
        assert ask_page(peer)[1]["backend"] == "reader"


def test_a_connection_made_before_serving_is_served(path: str) -> None:
    with warmwire.listen(path) as listener:
        assert listener.addr == path
        with Peer(path) as early:
            early.send(GOLDEN_REQUEST)
            thread = threading.Thread(target=listener.serve_forever, args=(Reader(),), daemon=True)
            thread.start()
            assert early.answer()[1]["type"] == "done"
        listener.close()
        thread.join(PATIENCE)
    assert not os.path.exists(path)


def test_pages_run_at_once_on_workers_and_one_after_another_without(path: str) -> None:
    barrier = threading.Barrier(2)

    class Meeting(Reader):
        def generate(self, *args: Any) -> None:  # type: ignore[override]
            barrier.wait(PATIENCE)

    with listening(Meeting(), path, workers=2), Peer(path) as a, Peer(path) as b:
        a.send(GOLDEN_REQUEST)
        b.send(GOLDEN_REQUEST)
        assert a.answer()[1]["type"] == "done"
        assert b.answer()[1]["type"] == "done"


def test_close_waits_for_the_answer_under_way(path: str) -> None:
    release = threading.Event()

    class Slow(Reader):
        def generate(self, image: Any, prompt: Any, limit: Any, emit: Any, cancelled: threading.Event) -> None:  # type: ignore[override]
            self.running.set()
            assert release.wait(PATIENCE)
            emit("whole")

    slow = Slow()
    with warmwire.listen(path) as listener, Peer(path) as peer:
        serving = threading.Thread(target=listener.serve_forever, args=(slow,), daemon=True)
        serving.start()
        peer.send(GOLDEN_REQUEST)
        assert slow.running.wait(PATIENCE)
        closing = threading.Thread(target=listener.close, daemon=True)
        closing.start()
        eventually(lambda: not os.path.exists(path), "the end of the socket")
        assert closing.is_alive()
        release.set()
        assert peer.answer()[0] == "whole"
        closing.join(PATIENCE)
        serving.join(PATIENCE)
        assert not closing.is_alive()


def test_a_signal_handler_may_close(path: str) -> None:
    """The way a script ends: `close` runs in the middle of `serve_forever`, in the same thread."""
    script = f"""if True:
        import signal, threading, warmwire
        class Handler:
            name = "h"
            def generate(self, image, prompt, max_tokens, emit, cancelled):
                emit("half ")
                go.wait(20)
                emit("whole")
        go = threading.Event()
        listener = warmwire.listen({path!r})
        def close(*_):
            listener.close()
            go.set()
        signal.signal(signal.SIGTERM, close)
        listener.serve_forever(Handler())
        print("ended")
    """
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    with Peer(path) as peer:
        peer.send(GOLDEN_REQUEST)
        assert (peer.receive() or {})["block"]["delta"] == "half "
        process.terminate()
        assert peer.answer()[0] == "whole"
    out, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "ended\n")
    assert os.listdir(os.path.dirname(path)) == []


def test_closing_what_never_served(path: str) -> None:
    listener = warmwire.listen(path)
    assert os.path.exists(path)
    listener.close()
    listener.close()
    assert not os.path.exists(path)
    listener.serve_forever(Reader())  # returns at once


def test_a_listener_may_serve_again_at_the_same_path(path: str) -> None:
    for _ in range(3):
        with listening(Reader(), path), Peer(path) as peer:
            assert ask_page(peer)[1]["type"] == "done"


def test_a_served_path_is_refused(path: str) -> None:
    with listening(Reader(), path):
        with pytest.raises(ListenError, match=f"already served by pid {os.getpid()}"):
            warmwire.listen(path)
        with Peer(path) as peer:
            assert ask_page(peer)[1]["type"] == "done"


def test_a_path_no_socket_can_have() -> None:
    with pytest.raises(UsageError, match="limit"):
        warmwire.listen("/tmp/" + "x" * 200)
    with pytest.raises(UsageError, match="limit"):
        warmwire.dial("/tmp/" + "x" * 200)


def test_dial_waits_only_so_long(path: str) -> None:
    with pytest.raises(DialError, match=f"no host listens at {path}"):
        warmwire.dial(path, wait=0)


def test_the_default_address(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
    with warmwire.listen() as listener:
        assert listener.addr == f"{directory}/inferd/inferd.sock" == warmwire.default_addr()
        thread = threading.Thread(target=listener.serve_forever, args=(Reader(),), daemon=True)
        thread.start()
        with warmwire.dial() as engine:
            assert engine.recognize(PAGE).endswith("</doctag>")


# ---------------------------------------------------------------------- one connection


def test_serve_one_connection() -> None:
    reader = Reader()
    with socket_pair() as (ours, theirs):
        thread = threading.Thread(target=warmwire.serve, args=(warmwire.Conn(theirs), reader), daemon=True)
        thread.start()
        ours.sendall(GOLDEN_REQUEST * 2)
        ours.shutdown(socket.SHUT_WR)
        conn = warmwire.Conn(ours)
        answers = []
        while True:
            try:
                answers.append(conn.read_frame())
            except EOFError:
                break
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert sum(b'"type":"done"' in bytes(payload) for _, payload in answers) == 2


def test_serve_goes_on_where_frames_were_read_before() -> None:
    """The first frame says hello in a way of the caller's own; what was received with it is not lost."""
    with socket_pair() as (ours, theirs):
        ours.sendall(json_frame({"hello": 1}) + GOLDEN_REQUEST)
        conn = warmwire.Conn(theirs)
        assert conn.read_frame() == (warmwire.FRAME_JSON, b'{"hello": 1}')
        thread = threading.Thread(target=warmwire.serve, args=(conn, Reader()), daemon=True)
        thread.start()
        other = warmwire.Conn(ours)
        while b'"type":"done"' not in bytes(other.read_frame()[1]):
            pass
        other.close()
        thread.join(PATIENCE)
        assert not thread.is_alive()


class TestConn:
    def test_frames_and_requests_both_ways(self) -> None:
        with socket_pair() as (a, b), warmwire.Conn(a) as left, warmwire.Conn(b) as right:
            left.write_json({"x": 1})
            left.write_frame(warmwire.FRAME_BLOB, b"\x00\x01")
            assert right.read_frame() == (1, b'{"x":1}')
            kind, payload = right.read_frame()
            assert (kind, bytes(payload)) == (2, b"\x00\x01")
            request = warmwire.Request(
                id="r",
                messages=[warmwire.Message("user", [warmwire.image_block("a"), warmwire.text_block("t")])],
                attachments=[warmwire.image_attachment("a", PAGE)],
            )
            right.write_request(request)
            got = left.read_request()
            assert got.messages == request.messages
            assert np.array_equal(warmwire.decode_image(got.attachments[0]), PAGE)

    def test_the_bytes_of_attachments_are_no_json(self) -> None:
        attachment = warmwire.image_attachment("a", PAGE)
        with socket_pair() as (a, b), warmwire.Conn(a) as left, warmwire.Conn(b) as right:
            left.write_json(attachment)
            left.write_json(warmwire.Request(attachments=[attachment]))
            assert right.read_frame()[1] == b'{"kind":"image","id":"a","width":20,"height":30}'
            assert b'"data"' not in right.read_frame()[1]
        assert memoryview(attachment.data).nbytes == PAGE.nbytes

    def test_large_frames(self) -> None:
        data = random_image(2000, 2000).tobytes()
        with socket_pair() as (a, b), warmwire.Conn(a) as left, warmwire.Conn(b) as right:
            thread = threading.Thread(target=left.write_frame, args=(warmwire.FRAME_BLOB, data))
            thread.start()
            assert bytes(right.read_frame()[1]) == data
            thread.join()

    def test_the_end(self) -> None:
        with socket_pair() as (a, b), warmwire.Conn(a) as left, warmwire.Conn(b) as right:
            left.close()
            left.close()
            with pytest.raises(EOFError):
                right.read_frame()
        with socket_pair() as (a, b), warmwire.Conn(b) as right:
            a.sendall(b"\x05\x01{")
            a.close()
            with pytest.raises(ProtocolError, match="ended inside"):
                right.read_request()

    def test_frames_of_several_threads_do_not_mix(self) -> None:
        with socket_pair() as (a, b), warmwire.Conn(a) as left, warmwire.Conn(b) as right:
            payloads = [bytes([n]) * (100_000 if n % 2 else 100) for n in range(8)]
            threads = [
                threading.Thread(target=lambda p=p: [left.write_frame(2, p) for _ in range(20)]) for p in payloads
            ]
            for thread in threads:
                thread.start()
            frames = [bytes(right.read_frame()[1]) for _ in range(160)]
            assert sorted(frames) == sorted(payloads * 20)
            for thread in threads:
                thread.join()

    def test_closing_wakes_a_reader(self) -> None:
        with socket_pair() as (a, b), warmwire.Conn(a) as left, warmwire.Conn(b):
            failed: list[BaseException] = []

            def read() -> None:
                try:
                    left.read_frame()
                except (EOFError, OSError) as error:
                    failed.append(error)

            thread = threading.Thread(target=read, daemon=True)
            thread.start()
            left.close()
            thread.join(PATIENCE)
            assert failed


def test_a_page_model_counts_what_its_handler_emits() -> None:
    request = warmwire.Request(
        messages=[warmwire.Message("user", [warmwire.image_block("a")])],
        attachments=[warmwire.image_attachment("a", PAGE)],
        max_tokens=0,
    )
    blocks: list[Any] = []
    model = PageModel(Reader())
    finish = model.generate(request, blocks.append, threading.Event())
    assert isinstance(finish, Finish)
    assert finish.usage.output_tokens == len(blocks) == 4
    assert issubclass(InternalError, WarmwireError)
