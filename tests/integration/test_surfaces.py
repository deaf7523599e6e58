"""Embeddings and rerank behind their sockets: what is refused and how, turns, leaving, draining."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.support import StartWhole, WholeHost, eventually, json_frame, text_body
from tests.surface_support import BOTH, GOOD, E, G, R, Vectors, task
from warmwire.transport.listen import SocketPath
from warmwire.transport.paths import MAX_PATH, Surface, surface_addr
from warmwire.wire.generation.messages import MAX_FRAME

# ---------------------------------------------------------------------- sockets


@pytest.mark.parametrize(
    ("able", "surfaces"),
    [
        ({"embed": False, "rerank": False}, []),
        ({"embed": True, "rerank": False}, [E]),
        ({"embed": False, "rerank": True}, [R]),
        ({"embed": True, "rerank": True, "generate": False}, [E, R]),
    ],
)
def test_a_socket_is_there_when_the_model_can(
    start_whole: StartWhole, path: str, able: dict[str, bool], surfaces: list[Any]
) -> None:
    host = start_whole(Vectors(**able))
    there = {surface for surface in Surface if os.path.exists(surface_addr(path, surface))}
    assert there == {G, Surface.ADMIN, *surfaces}
    for surface in there:
        assert stat.S_IMODE(os.stat(surface_addr(path, surface)).st_mode) == 0o600
    host.stop()
    host.join()
    assert os.listdir(Path(path).parent) == []


def test_a_model_that_only_embeds_says_so_on_the_generation_socket(start_whole: StartWhole) -> None:
    with start_whole(Vectors(generate=False)).peer() as peer:
        for _ in range(2):
            assert peer.ask("hello")[1]["code"] == "invalid_request"


@pytest.mark.parametrize(
    ("room", "there"), [(0, {G}), (len(".admin"), {G, E, Surface.ADMIN}), (len(".rerank"), set(Surface))]
)
def test_a_path_that_leaves_no_room_for_the_others(directory: str, room: int, there: set[Surface]) -> None:
    path = f"{directory}/".ljust(MAX_PATH - room - len(".sock"), "x") + ".sock"
    with WholeHost(Vectors(), path) as host:
        assert {surface for surface in Surface if os.path.exists(surface_addr(path, surface))} == there
        with host.peer() as peer:
            assert peer.ask("hello")[0] == "hello"


def test_no_socket_of_another_host_is_taken(start_whole: StartWhole, path: str) -> None:
    with SocketPath(surface_addr(path, R)) as other, other.bind():
        with pytest.raises(Exception, match="already served by pid"):
            WholeHost(Vectors(), path).__enter__().join()
        assert os.path.exists(surface_addr(path, R))
    start_whole(Vectors())  # nothing of the one that failed is left in the way


# ---------------------------------------------------------------------- what is refused


@BOTH
@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"nonsense\n",
        b"\xff\n",
        b"{}\n",
        b"[1]\n",
        b'{"id":"x","input":"a","query":"q","documents":"d"}\n',
        b"{\n",
    ],
)
def test_what_does_not_decode_has_no_id_and_closes(
    start_whole: StartWhole, loop_name: str, surface: Surface, line: bytes
) -> None:
    host = start_whole(Vectors(), loop=loop_name)
    with host.lines(surface) as peer:
        assert peer.ask(GOOD[surface])["id"] == "x"
        error = peer.ask(line)
        assert (error["type"], error["id"], error["code"]) == ("error", "", "invalid_request")
        assert error["message"].startswith("decode: ")
        assert peer.at_end()
    with host.lines(surface) as peer:
        assert peer.ask(GOOD[surface])["type"] != "error"


def test_a_line_over_64_mib_is_refused_while_it_comes(start_whole: StartWhole) -> None:
    with start_whole(Vectors()).lines(E) as peer:
        piece = b"x" * (1 << 20)
        for _ in range(MAX_FRAME >> 20):
            peer.send(piece)
        error = peer.ask(b"xx")
        assert (error["id"], error["code"]) == ("", "frame_too_large")
        assert error["message"] == f"line exceeds {MAX_FRAME} byte cap"
        assert peer.at_end()


@pytest.mark.parametrize(
    ("surface", "request_", "words"),
    [
        (E, {"input": []}, "input must not be empty"),
        (E, {"input": ["a", ""]}, "input[1] must not be empty"),
        (E, {"input": ["a"], "task": "poetry"}, "task uses an unknown variant: 'poetry'"),
        (E, {"input": ["a"], "task": "t" * 100_000}, "task uses an unknown variant: 'ttt"),
        (E, {"input": ["a"], "dimensions": 0}, "dimensions must be greater"),
        (E, {"input": ["a"], "dimensions": 1_000_001}, "dimensions 1000001 are more"),
        (R, {"query": "", "documents": ["d"]}, "query must not be empty"),
        (R, {"query": "q", "documents": []}, "documents must not be empty"),
        (R, {"query": "q", "documents": ["d"] * 257}, "request carries 257 documents; at most 256 allowed"),
        (R, {"query": "q", "documents": ["d", ""]}, "documents[1] must not be empty"),
        (R, {"query": "q", "documents": ["x" * (8 << 20)]}, "query and documents are 8388609 bytes; at most 8388608"),
        (R, {"query": "q", "documents": ["d"], "top_n": 0}, "top_n must be greater than zero when set"),
    ],
)
def test_what_is_wrong_is_answered_under_its_id_and_the_connection_lives(
    start_whole: StartWhole, surface: Surface, request_: dict[str, Any], words: str
) -> None:
    host = start_whole(Vectors())
    with host.lines(surface) as peer:
        error = peer.ask({"id": "wrong", **request_})
        assert (error["type"], error["id"], error["code"]) == ("error", "wrong", "invalid_request")
        assert error["message"].startswith(words)
        assert len(error["message"]) <= 4096
        assert peer.ask(GOOD[surface])["id"] == "x"
    assert host.host.activity.refused == 0


@BOTH
def test_failures_of_the_model_keep_the_connection(start_whole: StartWhole, loop_name: str, surface: Surface) -> None:
    with start_whole(Vectors(), loop=loop_name).lines(surface) as peer:
        for key, code, words in [
            ("unable", "embed_unsupported", "not this model"),
            ("bug", "internal", "ValueError: a bug in the model"),
            ("nan", "internal", "the model vectors gave a"),
        ]:
            error = peer.ask(task(surface, key))
            assert (error["id"], error["code"]) == (key, code)
            assert error["message"].startswith(words)
        assert peer.ask(GOOD[surface])["id"] == "x"


def test_an_answer_of_over_64_mib_is_refused_by_its_size(start_whole: StartWhole) -> None:
    with start_whole(Vectors()).lines(E) as peer:
        error = peer.ask({"id": "huge", "input": ["a"] * 20, "dimensions": 1_000_000})
        assert (error["id"], error["code"]) == ("huge", "frame_too_large")
        assert peer.ask(GOOD[E])["id"] == "x"


def test_another_users_connection_is_closed_unread(start_whole: StartWhole, loop_name: str) -> None:
    host = start_whole(Vectors(), loop=loop_name)
    host.call(lambda: host.host.uids and host.host.uids.clear())
    for surface in (E, R):
        with host.lines(surface) as peer:
            assert peer.at_end()


# ---------------------------------------------------------------------- what is answered


def test_an_answer_has_the_keys_of_the_wire(start_whole: StartWhole, loop_name: str) -> None:
    host = start_whole(Vectors(), loop=loop_name)
    with host.lines(E) as peer:
        assert peer.ask({"id": "e", "input": ["ab", "c"], "dimensions": 2, "task": "similarity", "newer": 0}) == {
            "type": "embeddings",
            "id": "e",
            "embeddings": [[0.5, 0.5], [0.5, 0.5]],
            "dimensions": 2,
            "model": "vectors for similarity",
            "usage": {"input_tokens": 3},
            "backend": "vectors",
        }
    with host.lines(R) as peer:
        assert peer.ask({"query": "abc", "documents": ["x", "ab", "y", "ba", "abc"], "top_n": 4}) == {
            "type": "rerank",
            "id": "",
            "results": [
                {"index": 4, "score": 3.0},
                {"index": 1, "score": 2.0},
                {"index": 3, "score": 2.0},
                {"index": 0, "score": 0.0},
            ],
            "model": "vectors",
            "usage": {"input_tokens": 5},
            "backend": "vectors",
        }
        assert len(peer.ask({"query": "a", "documents": ["a"] * 256, "top_n": 1000})["results"]) == 256


@BOTH
def test_lines_written_ahead_are_answered_in_order(start_whole: StartWhole, loop_name: str, surface: Surface) -> None:
    with start_whole(Vectors(), loop=loop_name).lines(surface) as peer:
        lines = [json.dumps(task(surface, f"n{n}")).encode() for n in range(20)]
        peer.send(b"\r\n".join(lines) + b"\n")
        assert [(peer.receive() or {})["id"] for _ in lines] == [f"n{n}" for n in range(20)]


@BOTH
def test_the_last_line_needs_no_newline_and_a_half_closed_client_gets_its_answer(
    start_whole: StartWhole, loop_name: str, surface: Surface
) -> None:
    model = Vectors()
    with start_whole(model, loop=loop_name).lines(surface) as peer:
        for byte in json.dumps(task(surface, "wait")).encode():
            peer.send(bytes([byte]))
        peer.shutdown()
        model.wait_running("wait")
        model.open("wait")
        assert (peer.receive() or {})["id"] == "wait"
        assert peer.at_end()


# ---------------------------------------------------------------------- turns


def test_all_surfaces_share_one_queue_first_in_first_out(start_whole: StartWhole, loop_name: str) -> None:
    model = Vectors()
    host = start_whole(model, loop=loop_name, queue_depth=3)
    with (
        host.peer() as chat,
        host.lines(E) as embed,
        host.lines(R) as rank,
        host.lines(E) as last,
        host.lines(R) as late,
    ):
        chat.send(json_frame(text_body("wait-chat")))
        model.wait_running("wait-chat")
        for count, (peer, surface, key) in enumerate([(embed, E, "b"), (rank, R, "c"), (last, E, "d")], 2):
            peer.send(task(surface, key))
            host.wait_outstanding(count)
        error = late.ask(task(R, "too-many"))
        assert (error["id"], error["code"]) == ("too-many", "queue_full")
        assert late.ask({"id": "bad", "query": "", "documents": []})["code"] == "invalid_request"  # takes no place
        with host.peer() as another:
            assert another.ask("too-many")[1]["code"] == "queue_full"
        model.open("wait-chat")
        assert chat.answer()[0] == "wait-chat"
        assert [(peer.receive() or {})["id"] for peer in (embed, rank, last)] == ["b", "c", "d"]
        assert late.ask(task(R, "e"))["id"] == "e"
    assert model.order == ["wait-chat", "b", "c", "d", "e"]
    host.wait_outstanding(0)
    assert (host.host.activity.answered, host.host.activity.refused) == (5, 2)


@BOTH
def test_leaving_cancels_what_runs_and_what_waits(start_whole: StartWhole, loop_name: str, surface: Surface) -> None:
    model = Vectors()
    host = start_whole(model, loop=loop_name)
    with host.lines(surface) as waiting, host.lines(surface) as running:
        running.send(task(surface, "wait-running"))
        model.wait_running("wait-running")
        waiting.send(task(surface, "never"))
        host.wait_outstanding(2)
        waiting.close()
        host.wait_outstanding(1)
    with host.lines(surface) as peer:
        assert peer.ask(task(surface, "next"))["id"] == "next"
    assert model.order == ["wait-running", "next"]
    assert model.cancelled == ["wait-running"]


def test_a_client_that_reads_nothing_is_dropped_and_frees_its_place(start_whole: StartWhole, loop_name: str) -> None:
    host = start_whole(Vectors(), loop=loop_name, queue_depth=0, write_timeout=2)
    with host.lines(E) as deaf, host.lines(E) as patient:
        deaf.send({"id": "deaf", "input": ["a"] * 10, "dimensions": 900_000})
        eventually(lambda: host.host.activity.sent, "the answer")
        assert patient.ask(GOOD[E])["code"] == "queue_full"
        eventually(lambda: patient.ask(GOOD[E])["type"] == "embeddings", "a free place")


@BOTH
def test_a_drain_lets_run_what_runs_and_refuses_what_is_new(
    start_whole: StartWhole, loop_name: str, path: str, surface: Surface
) -> None:
    model = Vectors()
    host = start_whole(model, loop=loop_name)
    with host.lines(surface) as running, host.lines(surface) as idle, host.lines(Surface.ADMIN) as admin:
        running.send(task(surface, "wait"))
        model.wait_running("wait")
        host.stop()
        eventually(lambda: host.host.draining, "the drain")
        assert not os.path.exists(surface_addr(path, surface))
        error = idle.ask(task(surface, "late"))
        assert (error["id"], error["code"]) == ("late", "backend_unavailable")
        assert error["message"].startswith("admission closed")
        assert idle.at_end()
        model.open("wait")
        assert (running.receive() or {})["id"] == "wait"
        assert running.at_end()
        states = []
        while (event := admin.receive()) is not None:
            states.append(event["status"])
        assert states[-1] in ("draining", "activity")
        assert "draining" in states
    host.join()


def test_a_drain_that_takes_too_long_cuts_with_an_error_line(start_whole: StartWhole, loop_name: str) -> None:
    model = Vectors()
    host = start_whole(model, loop=loop_name, drain_timeout=0.05)
    with host.lines(E) as running:
        running.send(task(E, "wait"))
        model.wait_running("wait")
        host.stop()
        error = running.receive() or {}
        assert (error["id"], error["code"]) == ("wait", "backend_unavailable")
        assert running.at_end()
    host.join()


def test_fifty_clients_of_every_kind_all_get_their_answer(start_whole: StartWhole, loop_name: str) -> None:
    host = start_whole(Vectors(), loop=loop_name, workers=2, queue_depth=60)
    got: list[str] = []

    def client(n: int) -> None:
        if n % 3:
            with host.lines(E if n % 3 == 1 else R) as peer:
                got.append(peer.ask(task(E if n % 3 == 1 else R, str(n)))["id"])
        else:
            with host.peer() as chat:
                got.append(chat.ask(str(n))[0])

    threads = [threading.Thread(target=client, args=(n,)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == sorted(map(str, range(50)))
