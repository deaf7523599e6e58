"""One connection carries one answer at a time: who may send, and what a late cancel may close."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tests.support import Gate, HostThread, Script, eventually, json_frame, text_body
from warmwire.client import AsyncClient, Client, UsageError
from warmwire.client.generation.tasks import wait_ready_async
from warmwire.errors import ListenError
from warmwire.host.generation.states import ConnectionState
from warmwire.models.interface import Finish
from warmwire.transport.listen import SocketPath, lock_holder
from warmwire.wire.generation.messages import OutBlock

PAGE = np.zeros((1200, 900, 3), np.uint8)


def test_two_tasks_on_one_client_do_not_mix(path: str) -> None:
    async def main() -> list[object]:
        client = AsyncClient(path)
        answers = await asyncio.gather(
            client.ask("a", images=[PAGE]), client.ask("b", images=[PAGE]), return_exceptions=True
        )
        texts = [await answer.text() for answer in answers if not isinstance(answer, BaseException)]
        client.close()
        return [*texts, *[answer for answer in answers if isinstance(answer, BaseException)]]

    with HostThread(Script(lambda request, emit, cancelled: emit(OutBlock("text", request.id or "ok"))), path):
        text, error = asyncio.run(asyncio.wait_for(main(), 20))
    assert text == "ok"
    assert isinstance(error, UsageError)


def test_a_second_thread_is_refused_while_the_first_sends(path: str) -> None:
    with HostThread(Gate(), path) as host, Client(path) as client:
        outcomes: list[object] = []

        def ask(name: str) -> None:
            try:
                outcomes.append(client.ask(name))
            except UsageError as error:
                outcomes.append(error)

        threads = [threading.Thread(target=ask, args=(name,)) for name in ("a", "b")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(isinstance(outcome, UsageError) for outcome in outcomes) == 1
        client.close()
        host.stop()


def test_a_late_cancel_leaves_the_next_answer_alone(path: str) -> None:
    gate = Gate()
    with HostThread(gate, path), Client(path) as client:
        gate.open("one")
        first = client.ask("one")
        assert first.text() == "<one></one>"
        second = client.ask("two")
        first.cancel()
        gate.open("two")
        assert second.text() == "<two></two>"


def test_a_late_cancel_leaves_the_next_answer_alone_async(path: str) -> None:
    gate = Gate()
    gate.open("one")
    gate.open("two")

    async def main() -> str:
        client = AsyncClient(path)
        first = await client.ask("one")
        await first.text()
        second = await client.ask("two")
        first.cancel()
        text = await second.text()
        client.close()
        return text

    with HostThread(gate, path):
        assert asyncio.run(main()) == "<two></two>"


def test_an_answer_that_has_ended_is_not_ended_again_by_the_drain(path: str) -> None:
    """`done` waits in a full buffer when the deadline comes: the client sees it, and no error after it."""

    def play(request: object, emit: object, cancelled: object) -> Finish:
        emit(OutBlock("text", "x" * 2_000_000))  # type: ignore[operator]
        return Finish()

    with HostThread(Script(play), path, drain_timeout=0.2) as host:
        peer = host.peer()
        peer.send(json_frame(text_body()))

        def ending() -> bool:
            return any(s.state is ConnectionState.ENDING for s in host.host.connections)

        eventually(lambda: host.call(ending), "the end of the answer")
        host.stop()
        host.join()
        types = []
        try:
            while (answer := peer.receive()) is not None:
                types.append(answer["type"])
        except (EOFError, ConnectionError):
            pass
        terminals = [kind for kind in types if kind in ("done", "error")]
    assert len(terminals) <= 1
    assert "error" not in terminals


def test_waiting_for_a_host_can_be_given_up_at_once(path: str) -> None:
    async def main() -> float:
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(wait_ready_async(path, 60), 0.2)
        return time.monotonic() - began

    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 20


def test_asking_who_holds_a_path_does_not_refuse_its_next_host(tmp_path: Path) -> None:
    path = str(tmp_path / "s.sock")
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            lock_holder(path)

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    try:
        for _ in range(200):
            with SocketPath(path):
                pass
    except ListenError as error:
        pytest.fail(str(error))
    finally:
        stop.set()
        for asker in askers:
            asker.join()
