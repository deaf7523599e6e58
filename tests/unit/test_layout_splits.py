"""Runs of text that were found as one and are several: cut where rules and neighbouring rows say."""

from __future__ import annotations

from tests.unit.layout_support import SIZE, grid, line
from warmwire.layout.page import Box, Kind, Line
from warmwire.layout.runs import Run
from warmwire.layout.splits import split_at, split_at_rules
from warmwire.layout.structure import structure


def run(y: float, *words: tuple[float, str]) -> Line:
    """One run of words that begin at given places, and know them."""
    pieces = [line(x, y, text) for x, text in words]
    left, right = pieces[0].box.left, pieces[-1].box.right
    box = Box(left, y, right, pieces[0].box.bottom)
    spans = tuple(((one.box.left - left) / box.width, (one.box.right - left) / box.width) for one in pieces)
    text = " ".join(one.text for one in pieces)
    place = Run(text, (left, y), (box.width, 0.0), (0.0, box.height), spans)
    return Line(box, text, 1.0, SIZE, False, run=place)


def test_parts_of_a_cut_run_know_where_their_words_are() -> None:
    found = split_at(run(10, (50, "Red"), (68, "fox"), (110, "and"), (130, "hen")), 110, 5)
    assert found is not None
    left, right = found
    assert (left.text, right.text) == ("Red fox", "and hen")
    assert (left.box.right, right.box.left) == (83, 110)
    again = split_at(right, 130, 5)
    assert again is not None
    assert [part.text for part in again] == ["and", "hen"]
    assert again[1].box == Box(130, 10, 145, 22)


def test_a_run_is_cut_where_an_upright_rule_stands_between_its_words() -> None:
    one, other = run(10, (50, "CODE"), (78, "what"), (100, "follows")), run(60, (50, "Not"), (70, "crossed"))
    rules = [Box(73, 0, 74, 40), Box(90, 0, 91, 40), Box(40, 5, 200, 6)]  # the second goes through a word
    assert [part.text for part in split_at_rules([one, other], rules)] == ["CODE", "what follows", "Not crossed"]


def test_a_run_over_two_ruled_cells_fills_both() -> None:
    rules = [Box(x, 100, x + 1, 220) for x in (50, 120, 200, 400)]
    rules += [Box(50, y, 401, y + 1) for y in (100, 130, 160, 220)]
    head = [line(54, 108, "Column"), line(124, 108, "Type"), line(204, 108, "Meaning")]
    rows = [line(54, 138, "NAME"), run(138, (124, "VARCHAR(128)"), (206, "Name"), (231, "of"), (246, "it"))]
    marks = [line(54, 168, "USAGE"), line(124, 168, "CHAR"), line(204, 168, "How it is used:")]
    for i, text in enumerate(("ALLOWED: it may", "DENIED: it may not"), 1):
        marks += [line(204, 168 + 13 * i, "•"), line(218, 168 + 13 * i, text)]
    table = next(one for one in structure([*head, *rows, *marks], 600, 800, rules=rules) if one.kind is Kind.TABLE)
    assert grid(table) == [
        ["Column", "Type", "Meaning"],
        ["NAME", "VARCHAR(128)", "Name of it"],
        ["USAGE", "CHAR", "How it is used: • ALLOWED: it may • DENIED: it may not"],
    ]
