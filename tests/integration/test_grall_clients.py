"""Both grall clients against a real host: text, bytes, several streams, pacing, stalled readers, lost servers."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from tests.markov_support import GrallHostThread, chain
from tests.support import PATIENCE
from warmwire.client import (
    AsyncGrallClient,
    DialError,
    GrallClient,
    InvalidRequestError,
    ProtocolError,
    StreamLostError,
    UsageError,
)
from warmwire.markov import Generation


@pytest.fixture
def host(path: str) -> Iterator[Callable[..., GrallHostThread]]:
    started: list[GrallHostThread] = []

    def begin(model: str = "utf8_d6", **options: Any) -> GrallHostThread:
        started.append(GrallHostThread(chain(model), path, **options))
        return started[-1]

    yield begin
    for thread in started:
        thread.stop()


Host = Callable[..., GrallHostThread]


class Sync:
    """The client in its own words."""

    def __init__(self, path: str, **options: Any) -> None:
        self.client = GrallClient(path, wait=PATIENCE, **options)

    def text(self, seed: str, **options: int) -> str:
        with self.client.generate(seed, **options) as stream:
            return "".join(stream)

    def raw(self, seed: str, **options: int) -> bytes:
        with self.client.generate(seed, **options) as stream:
            return b"".join(stream.raw())

    def first_of(self, seed: str, **options: int) -> tuple[str, list[str]]:
        """The first piece, and what comes after the cancel."""
        with self.client.generate(seed, **options) as stream:
            first = next(stream)
            stream.cancel()
            return first, list(stream)

    def hastened(self, seed: str, **options: int) -> str:
        with self.client.generate(seed, **options) as stream:
            first = next(stream)
            stream.set_delay(0)
            return first + stream.text()

    def ping(self) -> float:
        return self.client.ping()

    def close(self) -> None:
        self.client.close()


class Async:
    """The same through the other client, on a loop of this thread."""

    def __init__(self, path: str, **options: Any) -> None:
        self.loop = asyncio.new_event_loop()
        self.client = AsyncGrallClient(path, wait=PATIENCE, **options)

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(coroutine, PATIENCE))

    def text(self, seed: str, **options: int) -> str:
        async def work() -> str:
            async with self.client.generate(seed, **options) as stream:
                return "".join([piece async for piece in stream])

        return str(self.run(work()))

    def raw(self, seed: str, **options: int) -> bytes:
        async def work() -> bytes:
            async with self.client.generate(seed, **options) as stream:
                return b"".join([piece async for piece in stream.raw()])

        return bytes(self.run(work()))

    def first_of(self, seed: str, **options: int) -> tuple[str, list[str]]:
        async def work() -> tuple[str, list[str]]:
            async with self.client.generate(seed, **options) as stream:
                first = await anext(stream)
                stream.cancel()
                return first, [piece async for piece in stream]

        first, rest = self.run(work())
        return first, rest

    def hastened(self, seed: str, **options: int) -> str:
        async def work() -> str:
            async with self.client.generate(seed, **options) as stream:
                first = await anext(stream)
                await stream.set_delay(0)
                return first + await stream.text()

        return str(self.run(work()))

    def ping(self) -> float:
        return float(self.run(self.client.ping()))

    def close(self) -> None:
        self.client.close()
        self.loop.run_until_complete(asyncio.sleep(0.01))
        self.loop.close()


@pytest.fixture(params=[Sync, Async])
def connect(request: pytest.FixtureRequest, path: str) -> Iterator[Callable[..., Any]]:
    """`connect()` gives a client of either kind."""
    clients: list[Any] = []

    def begin(**options: Any) -> Any:
        clients.append(request.param(path, **options))
        return clients[-1]

    yield begin
    for client in clients:
        client.close()


class TestEither:
    def test_text_is_whole_characters(self, host: Host, connect: Any) -> None:
        host(rng_seed=1)
        client = connect()
        expected = bytes(Generation(chain("utf8_d6"), b"hr", rng_seed=b"1 g1").take(2000))
        assert client.text("hr", limit=2000) == expected.decode("utf-8", "replace")
        expected = bytes(Generation(chain("utf8_d6"), b"hr", rng_seed=b"1 g2").take(2000))
        assert client.raw("hr", limit=2000) == expected

    def test_a_character_cut_by_the_limit(self, host: Host, connect: Any) -> None:
        host("utf8_d6", rng_seed=1)
        client = connect()
        for limit in range(1, 30):
            raw = client.raw("hr", limit=limit)
            assert len(raw) == limit
        assert "".join(client.text("hr", limit=limit)[:-1] for limit in range(2, 30)).count("�") == 0

    def test_nothing_to_generate(self, host: Host, connect: Any) -> None:
        host("rep_d8")
        assert connect().text("zzzzzzzz", limit=8) == ""

    def test_ping(self, host: Host, connect: Any) -> None:
        host()
        assert connect().ping() > 0

    def test_cancel(self, host: Host, connect: Any) -> None:
        thread = host("rep_d8")
        client = connect()
        first, rest = client.first_of("ab")
        assert first.startswith("ab")
        assert rest == []
        client.ping()
        assert not thread.running()

    def test_set_delay(self, host: Host, connect: Any) -> None:
        host("rep_d8")
        assert connect().hastened("ab", limit=4000, delay=3_600_000) == "ab" * 2000

    def test_one_client_after_another_generation(self, host: Host, connect: Any) -> None:
        host("rep_d8")
        client = connect()
        assert [client.text("ab", limit=n) for n in (4, 6, 2)] == ["abab", "ababab", "ab"]

    def test_a_refused_generation(self, host: Host, connect: Any) -> None:
        host("rep_d8", max_generations=0)
        with pytest.raises(InvalidRequestError, match="too many generations"):
            connect().text("ab")

    @pytest.mark.parametrize("bad", [{"limit": -1}, {"limit": 1 << 32}, {"delay": -1}])
    def test_numbers_the_wire_cannot_carry(self, bad: dict[str, int], host: Host, connect: Any) -> None:
        host()
        with pytest.raises(UsageError, match="outside 0 to"):
            connect().text("ab", **bad)

    def test_a_server_that_goes(self, host: Host, connect: Any) -> None:
        thread = host("rep_d8")
        client = connect()
        client.ping()
        timer = threading.Timer(0.2, thread.stop)
        timer.start()
        with pytest.raises(StreamLostError, match="closed the connection"):
            client.text("ab", delay=10)
        timer.join()

    def test_it_connects_again(self, host: Host, connect: Any) -> None:
        thread = host("rep_d8")
        client = connect()
        client.ping()
        thread.stop()
        host("rep_d8")
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                assert client.text("ab", limit=4) == "abab"
                break
            except StreamLostError:  # the client may not have noticed yet
                assert time.monotonic() < deadline

    def test_no_server(self, path: str) -> None:
        with (
            GrallClient(path, wait=0.1) as client,
            pytest.raises(DialError, match="start one with: warmwire ipc MODEL"),
        ):
            client.ping()

    def test_something_else_listens(self, path: str) -> None:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path)
            listening.listen()
            with GrallClient(path, wait=0.2) as client, pytest.raises(ProtocolError, match="is silent"):
                client.ping()


def test_a_stalled_stream_does_not_block_the_others(host: Host, path: str) -> None:
    host("rep_d8")
    with GrallClient(path, max_backlog=100_000) as client, client.generate("ab") as stalled:
        with client.generate("ab", limit=3_000_000) as other:
            assert sum(map(len, other.raw())) == 3_000_000
        client.ping()  # what had been sent before the host knew is here
        backlog = stalled.backlog
        assert 100_000 < backlog < 1_000_000
        client.ping()
        assert stalled.backlog == backlog
        taken = 0
        for piece in stalled.raw():  # it goes on where it was held
            assert set(piece) <= set(b"ab")
            taken += len(piece)
            if taken > 3_000_000:
                break


def test_a_stalled_async_stream(host: Host, path: str) -> None:
    host("rep_d8")

    async def main() -> None:
        async with (
            AsyncGrallClient(path, max_backlog=100_000) as client,
            client.generate("ab") as stalled,
            client.generate("ab", limit=1_000_000) as other,
        ):
            assert len(await other.text()) == 1_000_000
            taken = 0
            async for piece in stalled:
                taken += len(piece)
                if taken > 2_000_000:
                    break

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_many_streams_in_many_threads(host: Host, path: str) -> None:
    host("rep_d8")
    texts: list[str] = []
    with GrallClient(path) as client:

        def work() -> None:
            with client.generate("ab", limit=50_000) as stream:
                texts.append(stream.text())

        threads = [threading.Thread(target=work) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert texts == ["ab" * 25_000] * 16


def test_many_streams_on_one_loop(host: Host, path: str) -> None:
    host("rep_d8")

    async def main() -> list[str]:
        async with AsyncGrallClient(path) as client:
            return list(await asyncio.gather(*(client.generate("ab", limit=50_000).text() for _ in range(16))))

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE)) == ["ab" * 25_000] * 16


class TestAsyncStarts:
    """An async stream begins when it is first used, once, and not after its cancel."""

    def run(self, path: str, work: Callable[[AsyncGrallClient], Coroutine[Any, Any, None]]) -> None:
        async def main() -> None:
            async with AsyncGrallClient(path) as client:
                await work(client)

        asyncio.run(asyncio.wait_for(main(), PATIENCE))

    def test_cancelled_before(self, host: Host, path: str) -> None:
        thread = host("rep_d8")

        async def work(client: AsyncGrallClient) -> None:
            stream = client.generate("ab")
            stream.cancel()
            assert [piece async for piece in stream.raw()] == []
            assert [piece async for piece in stream] == []
            await stream.set_delay(5)
            await client.ping()
            assert not thread.running()

        self.run(path, work)

    def test_cancelled_while_the_connection_opens(self, host: Host, path: str) -> None:
        thread = host("rep_d8")

        async def work(client: AsyncGrallClient) -> None:
            stream = client.generate("ab")
            reading = asyncio.create_task(stream.text())
            await asyncio.sleep(0)  # the task has begun to connect
            stream.cancel()
            assert await reading == ""
            await client.ping()
            assert not thread.running()

        self.run(path, work)

    def test_begun_by_two_at_once(self, host: Host, path: str) -> None:
        thread = host("rep_d8")

        async def work(client: AsyncGrallClient) -> None:
            stream = client.generate("ab", delay=3_600_000)
            await asyncio.gather(anext(stream), stream.set_delay(3_600_000))
            await client.ping()
            assert thread.running() == 1

        self.run(path, work)
