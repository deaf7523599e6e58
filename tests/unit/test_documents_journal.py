"""The journal of a run: what is kept, what damage costs, and when it goes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from warmwire.client import BackendUnavailableError, DialError, Recognition, WarmwireError
from warmwire.documents.reading.journal import Journal, KeptAnswer, Recorder, Replay, journal_path
from warmwire.media.images import Image


def page(n: int) -> Image:
    return np.full((8, 6, 3), n, np.uint8)


def fill(path: Path, *numbers: int, document: str = "x", whole: bool = True) -> Journal:
    journal = Journal(path, "model")
    for n in numbers:
        journal.keep(document, journal.key(page(n)), [KeptAnswer(f"page {n}", "m", {"n": n})], whole=whole)
    return journal


def known(path: Path, count: int, **options: bool) -> list[int]:
    journal = Journal(path, "model", **options)
    found = {n: journal.find(journal.key(page(n))) for n in range(count)}
    assert all(answers is None or answers[0].text == f"page {n}" for n, answers in found.items())
    journal.close(complete=False)
    return [n for n, answers in found.items() if answers is not None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return journal_path(tmp_path / "out", is_folder=True)


def test_what_was_answered_is_found_again_by_the_picture_and_who_was_asked(path: Path) -> None:
    fill(path, 1, 2)
    again = Journal(path, "model")
    assert again.find(again.key(page(2))) == [KeptAnswer("page 2", "m", {"n": 2})]
    assert again.find(again.key(page(3))) is None
    assert again.find(again.key(page(2).reshape(6, 8, 3))) is None
    other = Journal(path, "another model")
    assert other.find(other.key(page(2))) is None


def test_a_run_without_models_leaves_no_file(path: Path) -> None:
    journal = Journal(path, "model")
    journal.finish("x")
    assert journal.find(journal.key(page(1))) is None
    assert not journal.close(complete=True)
    assert not path.parent.exists()


def test_wherever_a_line_is_torn_the_others_are_whole_and_it_can_be_written_on(path: Path) -> None:
    fill(path, 0, 1, 2)
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    ends = [len(b"".join(lines[: n + 1])) - 1 for n in range(3)]
    for end in range(len(data)):
        path.write_bytes(data[:end])
        whole = data[:end].count(b"\n")
        assert known(path, 4) == list(range(whole))
        fill(path, 3)
        assert known(path, 4) == [*(n for n in range(3) if ends[n] <= end), 3]
    path.write_bytes(lines[0] + lines[1].replace(b"page", b"pace") + lines[2])
    assert known(path, 4) == [0, 2]
    path.write_bytes(os.urandom(5000))
    assert known(path, 4) == []


def test_it_goes_when_all_is_done(path: Path) -> None:
    journal = fill(path, 1)
    journal.finish("x")
    journal.close(complete=True)
    assert not path.exists()


def test_it_stays_when_a_run_was_cut_off_or_pages_failed(path: Path) -> None:
    journal = fill(path, 1)
    journal.finish("x")
    journal.close(complete=False)
    assert known(path, 4) == [1], "a document that is whole is not read again either"
    fill(path, 2, document="y", whole=False).close(complete=True)
    again = Journal(path, "model")
    assert not again.waits_for("x")
    assert again.waits_for("y")
    assert known(path, 4) == [1, 2]
    assert known(path, 4, retry=True) == [1]
    again.finish("y")
    again.close(complete=True)
    assert not path.exists()


def test_it_goes_when_a_document_of_another_name_is_whole(path: Path) -> None:
    fill(path, 1, 2, document="old").close(complete=False)
    renamed = Journal(path, "model")
    for n in (1, 2):
        renamed.take("new", renamed.key(page(n)))
    renamed.close(complete=True)
    assert path.exists(), "its result is not written"
    again = Journal(path, "model")
    for n in (1, 2):
        again.take("new", again.key(page(n)))
    again.finish("new")
    again.close(complete=True)
    assert not path.exists()


def test_of_runs_that_do_not_end_nothing_is_kept_that_is_done(path: Path) -> None:
    journal = Journal(path, "model", brief=True)
    for n, document in enumerate("ab"):
        journal.keep(document, journal.key(page(n)), [KeptAnswer("x")], whole=False)
    journal.finish("a")
    assert path.stat().st_size > 0
    journal.finish("b")
    assert path.stat().st_size == 0
    journal.keep("c", journal.key(page(3)), [KeptAnswer("page 3")], whole=True)
    assert known(path, 4) == [3]


def test_runs_that_share_it_do_not_remove_each_others(path: Path) -> None:
    fill(path, 1, document="a").close(complete=False)
    one, two = fill(path, 2, document="b"), fill(path, 3, document="c")
    one.finish("b")
    one.close(complete=True)
    assert path.exists(), "the other uses it"
    two.finish("c")
    two.close(complete=True)
    assert known(path, 4) == [1, 2, 3], "a was cut off"
    last = fill(path, 1, document="a")
    last.finish("a")
    last.close(complete=True)
    assert not path.exists()


def test_one_that_cannot_be_written_ends_the_run(path: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(WarmwireError, match="cannot be written"):
        fill(path, 1)


def test_a_full_disk_loses_the_page_under_way_only(path: Path) -> None:
    code = f"""
import resource, sys
from pathlib import Path
from tests.unit.test_documents_journal import fill, page, KeptAnswer
path = Path({str(path)!r})
journal = fill(path, 0, 1)
resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40,) * 2)
try:
    journal.keep("x", journal.key(page(2)), [KeptAnswer("page 2", "m", dict(n=2))], whole=True)
except Exception as error:
    sys.exit(str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert known(path, 4) == [0, 1]
    fill(path, 2)
    assert known(path, 4) == [0, 1, 2]


def test_failures_of_a_page_last_and_those_of_a_host_do_not() -> None:
    def ask(image: Image) -> Recognition:
        number = int(image[0, 0, 0])
        if number == 1:
            raise BackendUnavailableError("died", partial="half")
        if number == 2:
            raise DialError("gone")
        return Recognition("words", "m", report={"lines": 3})

    recorder = Recorder(ask)
    with pytest.raises(BackendUnavailableError):
        recorder(page(1))
    assert recorder(page(0)).text == "words"
    assert recorder.lasting
    replay = Replay(recorder.answers)
    with pytest.raises(WarmwireError, match=r"died .*--retry-failed") as caught:
        replay(page(1))
    assert caught.value.partial == "half"
    assert replay(page(0)) == Recognition("words", "m", report={"lines": 3})
    with pytest.raises(DialError):
        recorder(page(2))
    assert not recorder.lasting
