"""Reading and training on a Ray cluster of several nodes on this machine; nodes are lost in the middle of it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.markov_support import GRALL
from tests.support import COMMAND, DATA, FAULTY_PATH, PATIENCE

pytest.importorskip("ray")

from warmwire.client import Local
from warmwire.cluster.connection import connected
from warmwire.cluster.pages import RayEngines
from warmwire.cluster.training import train_file
from warmwire.errors import (
    BackendUnavailableError,
    CancelledError,
    DialError,
    InputError,
    InternalError,
    InvalidRequestError,
    TimedOutError,
    UsageError,
)
from warmwire.markov.training import train_file as train_here
from warmwire.models import registry

STORE = 80 << 20
TRIES = 3
PAGE = np.arange(60 * 40 * 3, dtype=np.uint8).reshape(60, 40, 3)
SCAN = Path(__file__).parents[2] / "examples" / "scan.pdf"
SCORED = DATA / "scored"


class TwoNodes:
    """A cluster whose first node is the driver's; `second` is another one, until it is lost."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
        for attempt in range(TRIES):
            try:
                self._cluster = Cluster(initialize_head=True, head_node_args=head)
                break
            except Exception:  # Ray gives a node up that is not there within 30 s, which a busy machine may take
                if attempt == TRIES - 1:
                    raise
        self.address = self._cluster.address
        self._second: Any = None

    def begin_second(self) -> None:
        if self._second is None:
            self._second = self._cluster.add_node(num_cpus=1, object_store_memory=STORE)

    def lose_second(self) -> None:
        node, self._second = self._second, None
        self._cluster.remove_node(node, allow_graceful=False)

    def close(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def nodes() -> Iterator[TwoNodes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", FAULTY_PATH)
        nodes = TwoNodes()
        yield nodes
        nodes.close()


@pytest.fixture(scope="module")
def driver(nodes: TwoNodes) -> Iterator[Any]:
    nodes.begin_second()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FAULTY_PATH.partition(os.pathsep)[0])
        registry._plugins.cache_clear()
        with connected(nodes.address) as ray:
            yield ray
    registry._plugins.cache_clear()


@pytest.fixture
def ray(nodes: TwoNodes, driver: Any) -> Any:
    nodes.begin_second()
    return driver


def text_of(folder: Path) -> Path:
    """3 MB, which is several chunks and ranges."""
    text = folder / "text"
    text.write_bytes((GRALL / "words.txt").read_bytes() * 15)
    return text


class TestTraining:
    @pytest.mark.parametrize(("depth", "separate"), [(8, False), (20, True)])
    def test_the_file_is_the_same(self, ray: Any, tmp_path: Path, depth: int, separate: bool) -> None:
        files = [text_of(tmp_path), GRALL / "utf8.txt", GRALL / "one.txt"]
        here = train_here(tmp_path / "here.gril", files, depth, separate=separate)
        assert train_file(ray, tmp_path / "there.gril", files, depth, separate=separate) == here
        assert (tmp_path / "there.gril").read_bytes() == (tmp_path / "here.gril").read_bytes()

    def test_a_node_that_is_lost(self, ray: Any, nodes: TwoNodes, tmp_path: Path) -> None:
        stages: list[str] = []

        def progress(stage: str, done: int, total: int | None) -> None:
            if stage == "merging" and stage not in stages:  # half of what was sorted is there
                nodes.lose_second()
            stages.append(stage)

        text = text_of(tmp_path)
        train_file(ray, tmp_path / "there.gril", [text], 6, progress=progress)
        assert "merging" in stages
        train_here(tmp_path / "here.gril", [text], 6)
        assert (tmp_path / "there.gril").read_bytes() == (tmp_path / "here.gril").read_bytes()

    def test_no_text(self, ray: Any, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="the training text is empty"):
            train_file(ray, tmp_path / "m.gril", [GRALL / "empty.txt"], 6)
        assert not (tmp_path / "m.gril").exists()


class TestPages:
    def test_answers_and_errors_are_those_of_this_process(self, ray: Any) -> None:
        with RayEngines(ray, "faulty-reads", jobs=1) as engines:
            engine = engines.connect()
            for prompt in ("sum", "scribble", "tool"):
                said = Local(registry.load_model("faulty-reads")).read(PAGE.copy(), prompt=prompt)
                page = engine.read(PAGE, prompt=prompt)
                assert page.text.split()[2:] == said.text.split()[2:]  # less the pid
                assert (page.backend, page.usage, page.report) == (said.backend, said.usage, said.report)
            with pytest.raises(InvalidRequestError, match="not like this") as refused:
                engine.read(PAGE, prompt="refuse")
            assert refused.value.partial.startswith("pid ")
            with pytest.raises(InternalError, match="ValueError"):
                engine.read(PAGE, prompt="raise")

    def test_a_reader_that_dies_or_hangs_is_replaced(self, ray: Any) -> None:
        with RayEngines(ray, "faulty-reads", jobs=1, page_timeout=3) as engines:
            engine = engines.connect()
            first = engine.read(PAGE, prompt="sum").text
            with pytest.raises(BackendUnavailableError, match="the reader of this page was lost"):
                engine.read(PAGE, prompt="exit 3")
            second = engine.read(PAGE, prompt="sum").text
            with pytest.raises(TimedOutError, match="not read within 3 s"):
                engine.read(PAGE, prompt="deaf")
            third = engine.read(PAGE, prompt="sum").text
        assert len({first.split()[1], second.split()[1], third.split()[1]}) == 3
        assert first.split()[2:] == third.split()[2:]

    def test_readers_on_a_node_that_is_lost(self, ray: Any, nodes: TwoNodes, tmp_path: Path) -> None:
        """There is no room for another then: the one that is left reads for both engines."""
        flag = tmp_path / "flag"
        with RayEngines(ray, "faulty-reads") as engines, ThreadPoolExecutor(2) as threads:
            assert engines.jobs == 2
            both = [engines.connect() for _ in range(2)]
            reads = [threads.submit(engine.read, PAGE, prompt=f"wait {flag}") for engine in both]
            deadline = time.monotonic() + PATIENCE
            while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
                time.sleep(0.05)  # both are reading
            nodes.lose_second()
            lost, _ = wait(reads, PATIENCE, FIRST_COMPLETED)
            assert [type(read.exception()) for read in lost] == [BackendUnavailableError]
            flag.touch()
            assert [read.exception(PATIENCE) for read in reads if read not in lost] == [None]
            again = [threads.submit(engine.read, PAGE, prompt="sum") for engine in both]
            assert len({read.result(PATIENCE).text for read in again}) == 1

    def test_a_model_that_cannot_be_loaded(self, ray: Any) -> None:
        with (
            RayEngines(ray, "faulty-reads-file") as engines,
            pytest.raises(InputError, match="the model file is not there"),
        ):
            engines.connect()

    def test_closing_ends_a_page_under_way(self, ray: Any, tmp_path: Path) -> None:
        engines = RayEngines(ray, "faulty-reads", jobs=1)
        engine = engines.connect()
        with ThreadPoolExecutor(2) as threads:
            reads = [threads.submit(engine.read, PAGE, prompt="deaf") for _ in range(2)]
            engine.close()
            errors = {type(read.exception(PATIENCE)) for read in reads}
        assert errors <= {BackendUnavailableError, CancelledError}
        engines.close()


@pytest.mark.slow
def test_scans_read_the_same_though_a_node_is_lost(ray: Any, nodes: TwoNodes, tmp_path: Path) -> None:
    scans = [str(SCAN), str(SCORED / "minutes.pdf"), str(SCORED / "recipe.pdf")]
    subprocess.run([*COMMAND, "ocr", *scans, "-o", str(tmp_path / "here")], check=True, timeout=PATIENCE)
    command = [*COMMAND, "ocr", *scans, "-o", str(tmp_path / "there"), "--ray", nodes.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "page 1 " not in (line := process.stderr.readline()):
            assert line
        nodes.lose_second()
        said, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, complaints
    assert said == ""
    for path in sorted((tmp_path / "here").iterdir()):
        assert (tmp_path / "there" / path.name).read_bytes() == path.read_bytes()


def test_nobody_at_an_address() -> None:
    for address in ("127.0.0.1:1", "nonsense"):
        with pytest.raises(DialError, match=f"no Ray cluster answers at {address}"), connected(address):
            pass
    with pytest.raises(UsageError, match="give HOST:PORT"), connected("ray://127.0.0.1:1"):
        pass
