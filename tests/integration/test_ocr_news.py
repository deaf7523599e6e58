"""What a run says while it works."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from warmwire.cli.ocr.news import News
from warmwire.cli.ocr.run import Job
from warmwire.cli.ocr.style import ProgressStyle
from warmwire.cli.ocr.targets import Targets
from warmwire.documents.input.gather import Input
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.reader import DocumentReader
from warmwire.documents.reading.record import PageRecord, Route

DATA = Path(__file__).parents[1] / "data" / "documents"


def told(
    style: ProgressStyle, capsys: pytest.CaptureFixture[str], tmp_path: Path, *names: str, wordy: bool = False
) -> str:
    inputs = [Input.of(str(DATA / name)) for name in names]
    reader = DocumentReader(lambda: pytest.fail("no model is needed"))  # type: ignore[arg-type,return-value]
    targets = Targets(inputs, str(tmp_path / "out"), [Format.MD], many=True)
    Job(reader, targets, news=News(style, wordy=wordy)).read_all(inputs)
    return capsys.readouterr().err


def test_lines_say_which_page_of_which_file_and_what_was_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = told(ProgressStyle.LINES, capsys, tmp_path, "frames.pdf", "digital.pdf").splitlines()
    assert sum("frames.pdf: " in line and "/7: page" in line for line in said) == 7
    assert said[-3].endswith("digital.pdf: 1/1: page 1 by file in " + said[-3].split(" in ")[1])
    assert said[-2] == f"warmwire: wrote {tmp_path / 'out' / 'digital.md'}"
    assert said[-1].startswith("warmwire: 2 of 2 files read: 8 pages in ")
    assert "its text explains the page" in told(ProgressStyle.LINES, capsys, tmp_path, "digital.pdf", wordy=True)


def test_json_lines_are_for_programs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    events = [
        json.loads(line)
        for line in told(ProgressStyle.JSON, capsys, tmp_path, "frames.pdf", "nowhere.pdf", "digital.pdf").splitlines()
    ]
    kinds = [event["event"] for event in events]
    assert (kinds.count("page"), kinds.count("wrote"), kinds.count("message")) == (8, 2, 1)
    assert events[0] == {
        "event": "message",
        "text": f"{DATA / 'nowhere.pdf'}: no such file",
        "file": str(DATA / "nowhere.pdf"),
    }
    assert events[1] == {"event": "start", "files": 3, "pages": 8}
    pages = [event for event in events if event["event"] == "page"]
    assert [event["done"] for event in pages] == [*range(1, 9)]
    assert pages[-1]["seconds_left"] == 0
    assert {"file", "page", "route", "status", "confidence", "seconds", "error"} <= set(pages[0])
    assert events[-1] | {"seconds": 0} == {"event": "end", "files": 3, "failed": 1, "pages": 8, "seconds": 0}


def test_quiet_says_only_what_goes_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert told(ProgressStyle.NONE, capsys, tmp_path, "frames.pdf", "digital.pdf") == ""
    assert "no such file" in told(ProgressStyle.NONE, capsys, tmp_path, "nowhere.pdf")


def test_the_time_that_is_left_is_told_by_the_pace_of_late(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    news = News(ProgressStyle.LINES)
    news.begin(1, 401)
    with news.loading("loading models"):
        clock[0] += 1000.0
    for number in range(1, 202):
        clock[0] += 20.0 if number <= 101 else 2.0
        news.page("x.pdf", 401, PageRecord(number, Route.MODEL))
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "warmwire: loading models"
    assert said[101].endswith("(0.05 pages/s, 100 min left)") or "1 h 40 min left" in said[101]
    assert said[-1].endswith("(0.5 pages/s, 7 min left)")


def test_the_bar_moves_within_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    with News(ProgressStyle.BAR) as news:
        news.begin(1, 2)
        with news.loading("loading models"):
            first, second = news.within(), news.within()
        assert first is not None
        assert second is not None

        def shown() -> float:
            (task,) = news._show()._progress.tasks
            assert task.total == 2
            return float(task.completed)

        first(1, 4)
        assert shown() == 0.25
        second(2, 4)
        assert shown() == 0.75
        first(4, 4)
        assert shown() == 1.5
        news.page("x.pdf", 2, PageRecord(1, Route.MODEL))
        assert shown() == 1.5
        second(4, 4)
        news.page("x.pdf", 2, PageRecord(2, Route.MODEL))
        assert shown() == 2
    assert News(ProgressStyle.LINES).within() is None
    assert News(ProgressStyle.JSON).within() is None
