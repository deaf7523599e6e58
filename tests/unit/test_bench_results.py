"""Results of benchmarks: kept and read again, compared, put into their page."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import pytest

from benchmarks import compare
from benchmarks.publish import END, START, growths, publish, ratios
from benchmarks.results import Machine, Result, load, machine, save
from benchmarks.rows import Note, Row, Spread, alone, growth, paired
from benchmarks.suite import GROUPS, MOST_SECONDS

HERE = machine()


def result(*rows: Row, here: Machine = HERE) -> Result:
    return Result(here, "full", True, 1, list(rows), [Note("g", "left out")])


def row(low: float, middle: float, high: float, more: bool = False, name: str = "n") -> Row:
    spread = Spread(low, middle, high, 9)
    return Row("g", name, "ms", spread, more, "peer", 1.0, spread)


ROWS = (
    paired("g", "page", "ms", "bare", [(1, 2), (2, 2), (3, 2)], more=False, wanted=1.6),
    paired("g", "rate", "/s", "bare", [(4, 1)], more=True, wanted=5),
    growth("g", "training", ("MB", "s"), [(1, 1), (10, 10), (100, 110)], wanted=1.1),
    alone("g", "memory", "MB", [3.0], more=False),
)


def test_kept_and_read_again(tmp_path: Path):
    path = tmp_path / "deep" / "r.json"
    save(result(*ROWS), path)
    assert load(path) == result(*ROWS)


@pytest.mark.parametrize(
    ("before", "after", "more", "verdict"),
    [
        ((1.0, 1.1, 1.2), (1.15, 1.3, 1.4), False, "same"),
        ((1.0, 1.1, 1.2), (1.21, 1.3, 1.4), False, "slower"),
        ((1.0, 1.1, 1.2), (1.21, 1.3, 1.4), True, "faster"),
        ((1.0, 1.1, 1.2), (0.7, 0.8, 0.9), False, "faster"),
        ((1.0, 1.1, 1.2), (0.7, 0.8, 0.9), True, "slower"),
    ],
)
def test_slower_is_beyond_both_spreads(before, after, more, verdict):
    assert compare.change(row(*after, more), row(*before, more)).verdict == verdict


@pytest.mark.parametrize(("now", "verdict"), [(118.0, "same"), (125.0, "slower"), (80.0, "faster")])
def test_what_was_measured_once_has_a_tenth(now, verdict):
    before, after = (alone("g", "n", "MB", [value], more=False) for value in (100.0, now))
    assert compare.change(after, before).verdict == verdict


def test_rows_are_paired_by_name_and_what_stands_beside_them():
    other = msgspec.structs.replace(row(9, 9, 9), beside="another")
    new, base = result(row(1, 1, 1), row(5, 5, 5, name="new")), result(other, row(2, 2, 2), row(1, 1, 1, name="old"))
    (change,) = compare.compared(new, base)
    assert (change.before.middle, change.after.middle, change.verdict) == (2, 1, "faster")
    assert [(row.name, row.beside) for row in compare.gone(new, base)] == [("n", "another"), ("old", "peer")]


def test_another_processor_leaves_only_ratios():
    elsewhere = msgspec.structs.replace(HERE, processor="another")
    changes = compare.compared(result(*ROWS), result(*ROWS, here=elsewhere))
    assert [change.row.name for change in changes] == ["page", "rate", "training"]


def test_the_command_fails_when_something_got_slower(tmp_path: Path, monkeypatch, capsys):
    save(result(row(1, 1, 1)), tmp_path / "0.1.0.json")
    save(result(row(2, 2, 2)), tmp_path / "new.json")
    command = ["compare", str(tmp_path / "new.json"), "--base", str(tmp_path / "0.1.0.json")]
    monkeypatch.setattr("sys.argv", command)
    assert compare.main() == 1
    assert "slower: g: n / peer: 1.00" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", [*command[:-1], str(tmp_path / "new.json")])
    assert compare.main() == 0


def test_the_last_release_is_the_highest_version_and_not_this_run(tmp_path: Path):
    for number in ("0.9.0", "0.10.0"):
        save(result(here=msgspec.structs.replace(HERE, version=number)), tmp_path / f"{number}.json")
    assert compare.last_released(result(), tmp_path) == tmp_path / "0.10.0.json"
    newest = load(tmp_path / "0.10.0.json")
    assert compare.last_released(newest, tmp_path) == tmp_path / "0.9.0.json"
    assert compare.last_released(newest, tmp_path / "none") is None


def test_without_results_the_command_says_so(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["compare", str(tmp_path / "none.json")])
    assert compare.main() == 2
    assert "no results" in capsys.readouterr().err


def test_the_page_keeps_what_is_written_around_the_marks(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(f"# Before\n\n{START}\nold\n{END}\n\nAfter \\1\n", "utf-8")
    publish(result(*ROWS), page, tmp_path / "plots")
    first = page.read_bytes()
    text = first.decode()
    assert text.startswith("# Before\n")
    assert text.endswith("After \\1\n")
    assert "old" not in text
    for part in ("| page", "- g: left out", "(plots/ratios.svg)", "(plots/growth.svg)", HERE.processor):
        assert part in text
    drawn = [path.read_bytes() for path in sorted((tmp_path / "plots").iterdir())]
    publish(result(*ROWS), page, tmp_path / "plots")
    assert page.read_bytes() == first
    assert [path.read_bytes() for path in sorted((tmp_path / "plots").iterdir())] == drawn


def test_a_page_without_marks_is_refused(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("nothing", "utf-8")
    with pytest.raises(SystemExit, match="no place for the table"):
        publish(result(*ROWS), page, tmp_path / "plots")


@pytest.mark.parametrize(("draw", "words"), [(ratios, {"page / bare", "rate / bare"}), (growths, {"MB", "s", "110"})])
def test_plots_say_what_they_show(draw, words):
    texts = {
        "".join(element.itertext()).strip() for element in ET.fromstring(draw(ROWS)).iter() if "text" in element.tag
    }
    assert words <= texts


def test_nothing_to_draw():
    assert ratios([ROWS[3]]) is None
    assert growths(ROWS[:2]) is None


@pytest.mark.parametrize("scale", list(MOST_SECONDS))
def test_groups_fit_their_time(scale):
    assert sum(getattr(group, scale) for group in GROUPS.values()) <= MOST_SECONDS[scale]
