"""Runs that are cut off and begun again: no page is lost and none read twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pil

from tests.openai_server import Exchange, FakeServer, chunk, fake_server
from tests.support import COMMAND, PATIENCE, eventually

PAGES = 40
KILLS = 8
JOBS = 2


class Counted:
    """A model that tells every page from the others, counts how often it was shown each, and fails on some."""

    def __init__(self, server: FakeServer) -> None:
        self.url = f"openai:{server.url}#m"
        self.shown: Counter[str] = Counter()
        self.failing = 0
        """The how manieth page it fails on, whenever it is shown."""
        self.broken = ""
        self.pause = 0.0
        self.seen = threading.Condition()
        server.chat(self.answer)

    def answer(self, exchange: Exchange) -> None:
        picture = json.dumps(exchange.body["messages"]).encode()
        name = f"sheet{hashlib.sha256(picture).hexdigest()[:12]}"
        with self.seen:
            self.shown[name] += 1
            if self.shown[name] == 1 and len(self.shown) == self.failing:
                self.broken = name
            self.seen.notify_all()
        time.sleep(self.pause)
        if name == self.broken:
            exchange.json({"error": {"message": "out of ink"}}, 400)
        else:
            exchange.events([chunk({"content": name}), chunk({}, "stop")])

    def wait(self, count: int) -> None:
        """Until so many pages have been shown, once or again."""
        with self.seen:
            assert self.seen.wait_for(lambda: self.shown.total() >= count, PATIENCE)


@pytest.fixture
def model() -> Iterator[Counted]:
    with fake_server() as server:
        yield Counted(server)


def stack(path: Path, pages: int, seed: int = 1) -> Path:
    """A file of so many different pages."""
    noise = np.random.default_rng(seed)
    sheets = [Pil.fromarray(noise.integers(0, 255, (40, 30), np.uint8)) for _ in range(pages)]
    sheets[0].save(path, "TIFF", save_all=True, append_images=sheets[1:])
    return path


def begin(model: Counted, *arguments: str, cwd: Path, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    command = [*prefix, *COMMAND, "ocr", *arguments, "--model", model.url, "--jobs", str(JOBS)]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(model: Counted, *arguments: str, cwd: Path, status: int = 0) -> tuple[str, str]:
    process = begin(model, *arguments, cwd=cwd)
    out, err = process.communicate(timeout=120)
    assert process.returncode == status, err
    return out, err


def words(text: str) -> list[str]:
    return [word for word in text.split() if word.startswith("sheet")]


def test_killed_at_any_moment_no_page_is_lost_and_none_read_twice(model: Counted, tmp_path: Path) -> None:
    stack(tmp_path / "x.tif", PAGES)
    model.pause = 0.02
    chance = random.Random(7)
    journal = tmp_path / ".x.md.warmwire-journal"
    for kill in range(KILLS):
        before = model.shown.total()
        process = begin(model, "x.tif", "-o", "x.md", cwd=tmp_path)
        model.wait(before + chance.randint(1, 2))
        time.sleep(chance.random() * 0.05)
        process.kill()
        process.communicate()
        if kill == KILLS // 2:  # the name of a file is no part of what is known of its pages
            (tmp_path / "x.tif").rename(tmp_path / "y.tif")
            (tmp_path / "y.tif").rename(tmp_path / "x.tif")
    kept = journal.read_bytes().count(b"\n") if journal.exists() else 0
    before = model.shown.total()
    run(model, "x.tif", "-o", "x.md", cwd=tmp_path)
    assert model.shown.total() - before <= PAGES - kept + 1
    found = words((tmp_path / "x.md").read_text())
    assert len(found) == len(set(found)) == PAGES
    assert model.shown.total() <= PAGES + KILLS * JOBS, "only what was under way is read again"
    assert sorted(os.listdir(tmp_path)) == ["x.md", "x.tif"]
    plain = model.shown.total()
    run(model, "x.tif", "-o", "y.md", cwd=tmp_path)
    assert (tmp_path / "y.md").read_bytes() == (tmp_path / "x.md").read_bytes()
    assert model.shown.total() == plain + PAGES


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_goes_on_under_other_names(model: Counted, tmp_path: Path, number: int, status: int) -> None:
    (tmp_path / "in").mkdir()
    for seed in range(3):
        stack(tmp_path / "in" / f"{seed}.tif", 3, seed)
    model.pause = 0.2
    process = begin(model, "in", "-o", "out", cwd=tmp_path)
    model.wait(7)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert ".warmwire-journal keeps what was read; the same call goes on from there" in err
    journal = tmp_path / "out" / ".warmwire-journal"
    kept = {entry["key"] for entry in entries(journal) if "key" in entry}
    assert len(kept) >= 7 - JOBS
    (tmp_path / "in" / "2.tif").rename(tmp_path / "in" / "other.tif")
    before = model.shown.total()
    run(model, "in", "-o", "out", cwd=tmp_path)
    assert model.shown.total() - before == 9 - len(kept)
    assert sorted(os.listdir(tmp_path / "out")) == ["0.md", "1.md", "other.md"]


def entries(journal: Path) -> list[dict[str, object]]:
    lines = journal.read_bytes().splitlines(keepends=True)
    return [json.loads(line.partition(b" ")[2]) for line in lines if line.endswith(b"\n")]


def test_interrupted_on_the_way_to_stdout_what_was_read_is_printed(model: Counted, tmp_path: Path) -> None:
    stack(tmp_path / "x.tif", 9)
    model.pause = 0.3
    process = begin(model, "x.tif", cwd=tmp_path)
    model.wait(6)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert 6 - JOBS - 1 <= len(words(out)) <= 6
    assert f"x.tif: {len(words(out))} of 9 pages had been read and are printed" in err
    assert os.listdir(tmp_path) == ["x.tif"]


def test_pages_that_failed_are_read_again_when_asked_for(model: Counted, tmp_path: Path) -> None:
    stack(tmp_path / "x.tif", 5)
    model.failing = 3
    _, err = run(model, "x.tif", "-o", "x.md", cwd=tmp_path, status=1)
    assert re.search(r"x.tif: page [1-5] failed", err)
    assert "--retry-failed reads again the pages that failed" in err
    shown = model.shown.total()
    _, err = run(model, "x.tif", "-o", "x.md", cwd=tmp_path, status=1)
    assert "(in an earlier run; --retry-failed asks again)" in err
    assert model.shown.total() == shown
    model.broken = ""
    run(model, "x.tif", "-o", "x.md", "--skip-existing", "--retry-failed", cwd=tmp_path)
    assert model.shown.total() == shown + 1
    assert len(words((tmp_path / "x.md").read_text())) == 5
    assert sorted(os.listdir(tmp_path)) == ["x.md", "x.tif"]


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="needs prlimit")
def test_a_disk_that_is_full_ends_the_run_and_the_next_goes_on(model: Counted, tmp_path: Path) -> None:
    """The disk is a limit of the size of files here: the journal reaches it after some sixty pages."""
    stack(tmp_path / "x.tif", 80)
    process = begin(model, "x.tif", "-o", "x.md", cwd=tmp_path, prefix=("prlimit", "--fsize=8000"))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert ".x.md.warmwire-journal: cannot be written" in err
    assert "Traceback" not in err
    kept = len([entry for entry in entries(tmp_path / ".x.md.warmwire-journal") if entry])
    assert 20 < kept < 80
    before = model.shown.total()
    assert before <= kept + 2 * JOBS
    run(model, "x.tif", "-o", "x.md", cwd=tmp_path)
    assert model.shown.total() - before == 80 - kept
    assert len(words((tmp_path / "x.md").read_text())) == 80


def test_what_was_read_for_a_result_that_cannot_be_written_is_kept(model: Counted, tmp_path: Path) -> None:
    stack(tmp_path / "one.tif", 1)
    in_the_way = tmp_path / "out" / "one.md"
    in_the_way.mkdir(parents=True)
    _, err = run(model, "one.tif", "-o", "out/", cwd=tmp_path, status=1)
    assert "one.md: cannot be written" in err
    assert ".warmwire-journal keeps what was read; the same call goes on from there" in err
    in_the_way.rmdir()
    run(model, "one.tif", "-o", "out/", cwd=tmp_path)
    assert in_the_way.is_file()
    assert model.shown.total() == 1


def test_what_is_there_can_be_left_out(model: Counted, tmp_path: Path) -> None:
    for seed in range(3):
        stack(tmp_path / f"{seed}.tif", 1, seed)
    run(model, "1.tif", "-o", "out/", "-f", "md,json", cwd=tmp_path)
    assert model.shown.total() == 1
    _, err = run(model, "0.tif", "1.tif", "2.tif", "-o", "out", "-f", "md,json", "--skip-existing", cwd=tmp_path)
    assert "1 of 3 files have their results already" in err
    assert model.shown.total() == 3
    _, err = run(model, "0.tif", "-o", "out/", "--skip-existing", cwd=tmp_path)
    assert model.shown.total() == 3
    with contextlib.suppress(FileNotFoundError):
        assert not (tmp_path / "out" / ".warmwire-journal").exists()


def test_two_runs_may_write_to_one_folder_at_once(model: Counted, tmp_path: Path) -> None:
    for seed in range(2):
        stack(tmp_path / f"{seed}.tif", 4, seed)
    model.pause = 0.1
    both = [begin(model, f"{seed}.tif", "-o", "out/", cwd=tmp_path) for seed in range(2)]
    for process in both:
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["0.md", "1.md"]
    assert model.shown.total() == 8
    eventually(lambda: not (tmp_path / "out" / ".warmwire-journal").exists(), "the journal is gone")
