"""Runs of `warmwire ocr`: which engines read, and how a run ends."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.openai_server import Exchange, FakeServer, chunk, fake_server
from tests.support import COMMAND, PATIENCE, kill
from warmwire.cli.ocr.run import Job
from warmwire.cli.ocr.targets import Targets
from warmwire.client import Engine, InputError, Local, QueueFullError, Recognition, TruncatedError, UsageError
from warmwire.documents.input.gather import Input
from warmwire.documents.input.open import open_source
from warmwire.documents.output.formats import Format
from warmwire.documents.reading import reader as read_module
from warmwire.documents.reading.reader import DocumentReader, ReadOptions
from warmwire.documents.reading.record import PageRecord, Reading, Status
from warmwire.engines import PageEngines
from warmwire.media.images import Image
from warmwire.models.registry import page_model

DATA = Path(__file__).parents[1] / "data" / "documents"
WHITE = np.full((60, 40, 3), 255, np.uint8)
SOON = 5.0
"""Seconds within which an interrupted run ends; what it interrupts would last a minute."""


# ---------------------------------------------------------------------- the end of a run


class Busy:
    """An engine of a host whose queue is always full."""

    def read(self, image: Image, **_: Any) -> Recognition:
        raise QueueFullError("10 requests wait")

    def recognize(self, image: Image, **options: Any) -> str:
        return self.read(image, **options).text

    def close(self) -> None:
        pass


class Slow:
    """A handler that reads for a minute unless it is cancelled."""

    name = "slow"

    def generate(
        self,
        image: Image,
        prompt: str,
        max_tokens: int | None,
        emit: Callable[[str], None],
        cancelled: threading.Event,
    ) -> None:
        cancelled.wait(60)


@pytest.mark.parametrize("engine", [Busy(), Local(Slow())], ids=["busy", "local"])
def test_an_interrupt_ends_what_is_under_way(engine: Engine) -> None:
    def interrupt(record: PageRecord) -> None:
        raise KeyboardInterrupt

    reader = DocumentReader(lambda: engine, ReadOptions(busy_pauses=(60.0,)), jobs=2)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):  # page 1 comes from the file while page 2 is being read
        reader.read(open_source(str(DATA / "routes.pdf")), [1, 2], interrupt)
    assert time.monotonic() - started < SOON


class Partly:
    """An engine that read `lines` lines of every page and could not read `unread` more."""

    def __init__(self, lines: int, unread: int) -> None:
        self.report = {"confidence": 0.9, "lines": lines, "unread": unread}

    def read(self, image: Image, **_: Any) -> Recognition:
        return Recognition("<text>words</text>" if self.report["lines"] else "", report=self.report)

    def recognize(self, image: Image, **options: Any) -> str:
        return self.read(image, **options).text

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("lines", "unread", "well", "news"),
    [
        (40, 3, True, ""),
        (20, 5, True, "page 2: 5 of 25 lines are in a script the reader does not know"),
        (3, 20, False, "page 2 failed, part of it was kept: 20 of 23 lines are in a script the reader does not know"),
        (0, 9, False, "page 2 failed, nothing of it could be kept: 9 of 9 lines are in a script"),
    ],
)
def test_lines_that_could_not_be_read_are_news_and_most_of_them_a_failure(
    lines: int, unread: int, well: bool, news: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(DATA / "routes.pdf")
    with contextlib.closing(DocumentReader(lambda: Partly(lines, unread))) as reader:
        one = Input.of(file)
        job = Job(reader, Targets([one], str(tmp_path / "out.md"), [Format.MD]), pages="2")
        assert job.read(one) is well
    said = capsys.readouterr().err
    assert news in said
    assert ("script" in said) is bool(news)


def test_a_reader_reads_on_after_a_run_that_broke_off() -> None:
    class Once(Slow):
        def generate(self, *arguments: Any) -> None:
            arguments[3]("<text>words</text>")

    def connect() -> Engine:
        return Local(Once())

    reader = DocumentReader(connect)
    source = open_source(str(DATA / "routes.pdf"))

    def stop(record: PageRecord) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        reader.read(source, [2, 3, 4], stop)
    assert reader.read(source, [2, 3]).troubled == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_an_interrupt_ends_the_wait_for_a_model(server: FakeServer) -> None:
    asked = threading.Event()

    def never(exchange: Exchange) -> None:
        asked.set()
        exchange.wait_for_close(60)

    server.answers["/v1/models"] = never
    command = [*COMMAND, "ocr", "routes.pdf", "--pages", "2"]
    with subprocess.Popen([*command, "--model", f"openai:{server.url}#m"], stderr=subprocess.PIPE, cwd=DATA) as child:
        assert asked.wait(60)
        started = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, news = child.communicate(timeout=60)
    assert time.monotonic() - started < SOON
    assert news.decode().splitlines() == ["warmwire: loading models", "warmwire: interrupted"]
    assert child.returncode == 130


def test_one_file_that_breaks_something_costs_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settle = read_module.settle

    def broken(reading: Reading) -> None:
        if reading.name.endswith("bad.pdf"):
            raise IndexError("list index out of range")
        settle(reading)

    monkeypatch.setattr(read_module, "settle", broken)
    files = [str(tmp_path / name) for name in ("bad.pdf", "good.pdf")]
    for file in files:
        Path(file).write_bytes((DATA / "digital.pdf").read_bytes())
    inputs = [Input.of(file) for file in files]
    job = Job(DocumentReader(Busy), Targets(inputs, str(tmp_path / "out"), [Format.MD]))
    assert [job.read(one) for one in inputs] == [False, True]
    assert os.listdir(tmp_path / "out") == ["good.md"]
    assert f"{files[0]}: unexpected IndexError: list index out of range (--debug" in capsys.readouterr().err


class Together:
    """An engine that reads a page only while another one reads too."""

    def __init__(self, both: threading.Barrier) -> None:
        self._both = both

    def read(self, image: Image, **_: Any) -> Recognition:
        self._both.wait(30)
        return Recognition("<text>words</text>")

    def recognize(self, image: Image, **options: Any) -> str:
        return self.read(image, **options).text

    def close(self) -> None:
        pass


def test_the_pages_of_all_files_are_one_queue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = threading.Barrier(2)
    files = [str(tmp_path / f"{name}.pdf") for name in "abcd"]
    for file in files:
        Path(file).write_bytes((DATA / "routes.pdf").read_bytes())
    files.insert(1, str(tmp_path / "none.pdf"))
    with contextlib.closing(DocumentReader(lambda: Together(both), ReadOptions(dpi=36), jobs=2)) as reader:
        inputs = [Input.of(file) for file in files]
        job = Job(reader, Targets(inputs, str(tmp_path / "out"), [Format.MD]), pages="2")
        assert job.read_all(inputs) == [True, False, True, True, True]
    assert sorted(os.listdir(tmp_path / "out")) == ["a.md", "b.md", "c.md", "d.md"]
    assert "none.pdf: no such file" in capsys.readouterr().err


def test_a_page_that_takes_long_holds_no_other_up() -> None:
    rest = threading.Event()

    class First(Together):
        seen = itertools.count()
        left = 3

        def read(self, image: Image, **_: Any) -> Recognition:
            if next(First.seen) == 0:
                assert rest.wait(30)
            else:
                First.left -= 1
                if not First.left:
                    rest.set()
            return Recognition("<text>words</text>")

    with contextlib.closing(DocumentReader(lambda: First(threading.Barrier(1)), ReadOptions(dpi=36), jobs=2)) as reader:
        reading = reader.read(open_source(str(DATA / "routes.pdf")), [2, 3, 4, 7])
    assert [page.record.page for page in reading.pages] == [2, 3, 4, 7]
    assert reading.troubled == []


# ---------------------------------------------------------------------- a model in worker processes


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with fake_server() as made:
        yield made


@contextlib.contextmanager
def engines(server: FakeServer, jobs: int | None = None, page_timeout: float | None = None) -> Iterator[PageEngines]:
    made = PageEngines(None, f"openai:{server.url}#m", jobs, page_timeout)
    try:
        yield made
    finally:
        made.close()


def say(text: str) -> list[dict[str, Any]]:
    return [chunk({"content": text}), chunk({}, "stop")]


def test_jobs_are_pages_read_at_once_by_any_model(server: FakeServer) -> None:
    both = threading.Barrier(2)

    def together(exchange: Exchange) -> None:
        both.wait(30)
        exchange.events(say("Words of a page"))

    server.chat(together)
    with engines(server, jobs=2) as made:
        reading = _read(made, [2, 3, 4, 7])
    assert reading.troubled == []
    assert [page.elements[0].text for page in reading.pages] == ["Words of a page"] * 4


def test_other_models_than_pages_run_once_unless_told(server: FakeServer) -> None:
    with engines(server) as made:
        assert made.jobs == 1


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the worker in /proc")
def test_a_worker_that_dies_costs_its_page(server: FakeServer) -> None:
    deaths = itertools.count(1)

    def fatal(exchange: Exchange) -> None:
        if next(deaths) == 2:
            server.chat(lambda x: x.events(say("Words of a page")))
        (worker,) = _workers()
        kill(worker)
        exchange.wait_for_close()

    server.chat(fatal)
    with engines(server) as made:
        reading = _read(made, [2, 3])
    assert [page.record.status for page in reading.pages] == [Status.FAILED, Status.OK]
    assert "died" in reading.pages[0].record.error
    assert "(tried 2 times)" in reading.pages[0].record.error


def test_a_page_that_the_model_hangs_on_is_given_up(server: FakeServer) -> None:
    hangs = itertools.count(1)

    def hang(exchange: Exchange) -> None:
        if next(hangs) == 2:
            server.chat(lambda x: x.events(say("Words of a page")))
        exchange.wait_for_close(PATIENCE)

    server.chat(hang)
    with engines(server, page_timeout=3) as made:
        reading = _read(made, [2, 3])
    assert [page.record.status for page in reading.pages] == [Status.FAILED, Status.OK]
    assert "was not answered within 3 s" in reading.pages[0].record.error


def test_a_model_in_a_loop_is_cut_off(server: FakeServer) -> None:
    server.chat(lambda x: x.events(say("over and ")[:1] * 2000))
    with engines(server) as made, contextlib.closing(made.connect()) as engine, pytest.raises(TruncatedError) as caught:
        engine.read(WHITE)
    assert 2500 < len(caught.value.partial) < 5000


@pytest.mark.parametrize(("pieces", "loop"), [(["I ", "see"], False), (["over ", "and "], True)], ids=["sees", "loops"])
def test_any_gguf_with_eyes_reads_pages_in_a_worker(tmp_path: Path, pieces: list[str], loop: bool) -> None:
    pytest.importorskip("xllamacpp")
    from tests import tiny_gguf

    model = tiny_gguf.text_model(tmp_path / "seeing-Q8_0.gguf", pieces, loop=loop, context=8192)
    tiny_gguf.projector(tmp_path / "mmproj-seeing-F16.gguf", model)
    made = PageEngines(None, str(model), None)
    try:
        (page,) = _read(made, [2]).pages
    finally:
        made.close()
    if loop:
        assert page.record.status is Status.PARTIAL
        assert "cut" in page.record.error
        assert 2500 < len(page.elements[0].text) < 5000
    else:
        assert page.elements[0].text == "I see"


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        ("echo", UsageError, "reads no pages"),
        ("x.gril", UsageError, "reads no pages"),
        ("x.gguf", InputError, "no such"),
    ],
)
def test_a_model_that_cannot_read_is_refused_before_any_file(model: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        PageEngines(None, model, None)


def test_names_of_page_readers() -> None:
    assert page_model("pages") == "pages"
    assert page_model("x.gguf?ctx=9") == "page:x.gguf?ctx=9"
    assert page_model("page:openai:http://h#m") == "page:openai:http://h#m"
    with pytest.raises(UsageError, match="unknown model 'page:echo'"):
        page_model("page:echo")


def _read(made: PageEngines, numbers: list[int]) -> Reading:
    reader = DocumentReader(made.connect, ReadOptions(dpi=36), made.jobs)
    try:
        return reader.read(open_source(str(DATA / "routes.pdf")), numbers)
    finally:
        reader.close()


def _workers() -> list[int]:
    """The worker processes of this one."""
    parents = [Path(f"/proc/self/task/{thread}/children") for thread in os.listdir("/proc/self/task")]
    children = [pid for parent in parents for pid in parent.read_text().split()]
    return [int(pid) for pid in children if b"host.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]
