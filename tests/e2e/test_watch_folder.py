"""`warmwire watch-folder`: what is dropped into a folder is read, once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_ocr_resume import Counted, stack, words
from tests.openai_server import fake_server
from tests.support import COMMAND, eventually
from warmwire.documents.input.drop import SETTLED, DropFolder, file_mark
from warmwire.documents.input.gather import Input
from warmwire.system.records import pack

DROPPED = 30


@pytest.fixture
def model() -> Iterator[Counted]:
    with fake_server() as server:
        yield Counted(server)


def begin(model: Counted, cwd: Path, *more: str) -> subprocess.Popen[str]:
    command = [*COMMAND, "watch-folder", "in", "out", "--model", model.url, "--jobs", "2", *more]
    return subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE, text=True)


def end(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> str:
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 0, said
    assert "Traceback" not in said
    return said


def results(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md"))


def test_thirty_files_dropped_at_once_are_read_once_each_over_a_restart(model: Counted, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(DROPPED):
        stack(tmp_path / f"{number}.tif", 1, number)
    process = begin(model, tmp_path, "--done", "done")
    assert process.stderr is not None
    assert process.stderr.readline() == "warmwire: watching in\n"
    for number in range(DROPPED):
        (tmp_path / f"{number}.tif").rename(tmp_path / "in" / f"{number}.tif")
    model.wait(10)
    process.kill()
    process.communicate()
    process = begin(model, tmp_path, "--done", "done")
    eventually(lambda: len(results(tmp_path / "out")) == DROPPED, "all results")
    eventually(lambda: not os.listdir(tmp_path / "in"), "all files moved")
    end(process)
    assert results(tmp_path / "out") == sorted(f"{number}.md" for number in range(DROPPED))
    assert sorted(os.listdir(tmp_path / "done")) == sorted(f"{number}.tif" for number in range(DROPPED))
    assert DROPPED <= model.shown.total() <= DROPPED + 2, "only what was under way is read again"
    texts = [words((tmp_path / "out" / name).read_text()) for name in results(tmp_path / "out")]
    assert len({text for (text,) in texts}) == DROPPED


def test_what_stays_is_remembered_and_a_changed_file_is_read_again(model: Counted, tmp_path: Path) -> None:
    (tmp_path / "in" / "a").mkdir(parents=True)
    stack(tmp_path / "in" / "a" / "x.tif", 1, 1)
    stack(tmp_path / "in" / "a" / "x.png.tif", 1, 2)
    (tmp_path / "in" / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    process = begin(model, tmp_path)
    eventually(lambda: len(results(tmp_path / "out")) == 2, "both results")
    journal = tmp_path / "out" / ".warmwire-journal"
    eventually(lambda: not journal.stat().st_size, "nothing to wait for")
    said = end(process)
    assert said.count("broken.pdf: not a readable PDF") == 1
    shown = model.shown.total()
    process = begin(model, tmp_path)
    stack(tmp_path / "in" / "a" / "x.tif", 2, 3)
    eventually(lambda: len(words((tmp_path / "out" / "a" / "x.md").read_text())) == 2, "the new result")
    eventually(lambda: not journal.stat().st_size, "nothing to wait for")
    said = end(process, signal.SIGINT)
    assert "broken.pdf" not in said
    assert model.shown.total() == shown + 2
    assert results(tmp_path / "out") == ["a/x.md", "a/x.png.md"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".warmwire-journal", ".warmwire-read", "a"]


# ---------------------------------------------------------------------- one look after another


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path


class Drop(DropFolder):
    """One whose time a test moves on."""

    def __init__(self, path: Path, ledger: Path, **options: Any) -> None:
        self.now = 0.0
        super().__init__(path, ledger, clock=lambda: self.now, **options)

    def settle(self) -> None:
        """So much time passes that a file at rest is whole."""
        self.now += SETTLED

    def names(self) -> list[str]:
        return [Path(one.path).name for one in self.ready()]


def look(drop: Drop) -> list[str]:
    drop.ready()
    drop.settle()
    return drop.names()


def test_a_file_that_grows_or_is_open_to_write_is_waited_for(folder: Path) -> None:
    drop = Drop(folder / "in", folder / "ledger")
    (folder / "in" / "x.pdf").write_bytes(b"1")
    drop.ready()
    drop.settle()
    (folder / "in" / "x.pdf").write_bytes(b"12")
    assert drop.ready() == []
    with (folder / "in" / "x.pdf").open("ab") as writer:
        writer.write(b"3")
        writer.flush()
        assert look(drop) == []
    assert look(drop) == ["x.pdf"]
    (folder / "in" / "empty.pdf").touch()
    (folder / "in" / "notes.txt").write_text("no document")
    assert look(drop) == ["x.pdf"]


def test_cut_off_between_marking_and_moving_a_file_is_moved_and_not_read(folder: Path) -> None:
    (folder / "in" / "x.pdf").write_bytes(b"1")
    marking = Drop(folder / "in", folder / "ledger")
    assert look(marking) == ["x.pdf"]
    marking.finish(Input.of(str(folder / "in" / "x.pdf")), well=True)
    with (folder / "ledger").open("ab") as ledger:
        ledger.write(b"torn")
    moving = Drop(folder / "in", folder / "ledger", done=folder / "done")
    assert look(moving) == []
    assert os.listdir(folder / "done") == ["x.pdf"]
    (folder / "in" / "x.pdf").write_bytes(b"2")
    again = Drop(folder / "in", folder / "ledger", done=folder / "done")
    assert look(again) == ["x.pdf"]
    again.finish(Input.of(str(folder / "in" / "x.pdf")), well=False)
    assert (folder / "done" / "failed" / "x.pdf").read_bytes() == b"2"


def test_a_line_of_the_ledger_that_means_nothing_is_passed_over(folder: Path) -> None:
    (folder / "in" / "x.pdf").write_bytes(b"1")
    mark = file_mark(str(folder / "in" / "x.pdf"))
    known = json.dumps({"file": "x.pdf", "mark": mark, "place": "x"}).encode()
    strange = (b"\xff", b"[" * 9999, b"3", b'{"file":1,"gone":true}', b'{"file":"x.pdf","mark":[1],"place":"x"}')
    (folder / "ledger").write_bytes(b"".join(map(pack, [known, *strange])))
    assert look(Drop(folder / "in", folder / "ledger")) == []
