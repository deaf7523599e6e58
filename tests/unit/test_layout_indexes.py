"""Indexes: entries, what goes on in a second line, sub-entries, letters between them, several columns."""

from __future__ import annotations

import pytest

from tests.unit.layout_support import HEIGHT, PROSE, WIDTH, line, lines
from warmwire.layout.blocks.indexes import index_openings, is_indexed
from warmwire.layout.measures import Column
from warmwire.layout.page import Kind, Line
from warmwire.layout.structure import structure

LEFT = [
    (0, "anchor, 12, 45"), (0, "barrel, 7"), (1, "of oak, 8"), (1, "of tin, 9–11"), (0, "beacon, 30d"),
    (0, "bridge over the narrow"), (2, "river, 5, 6"), (0, "canal, 14"), (1, "old, 15"), (0, "cellar, 103,"),
    (2, "110, 214"), (0, "depot, 60"),
]  # fmt: skip
RIGHT = [
    (1, "new, 61, 62"), (0, "engine, 17"), (0, "ferry, 20"), (1, "see also boat"), (0, "garden, 5"), (0, "harbour, 2"),
    (0, "island, 8"), (0, "jetty, 9, 70"), (0, "kettle, 41"),
]  # fmt: skip
ENTRIES = [
    (1, "anchor, 12, 45"), (1, "barrel, 7"), (2, "of oak, 8"), (2, "of tin, 9–11"), (1, "beacon, 30d"),
    (1, "bridge over the narrow river, 5, 6"), (1, "canal, 14"), (2, "old, 15"), (1, "cellar, 103, 110, 214"),
    (1, "depot, 60"), (2, "new, 61, 62"), (1, "engine, 17"), (1, "ferry, 20"), (2, "see also boat"), (1, "garden, 5"),
    (1, "harbour, 2"), (1, "island, 8"), (1, "jetty, 9, 70"), (1, "kettle, 41"),
]  # fmt: skip


def _column(x: float, rows: list[tuple[int, str]], y: float = 100) -> list[Line]:
    return [line(x + 12 * indent, y + 13 * i, text) for i, (indent, text) in enumerate(rows)]


def test_entries_of_two_columns_are_one_list_with_their_sub_entries() -> None:
    found = structure([*_column(60, LEFT), *_column(260, RIGHT)], WIDTH, HEIGHT)
    assert {element.kind for element in found} == {Kind.LIST_ITEM}
    assert [(element.level, element.text) for element in found] == ENTRIES


def test_letters_between_the_entries_head_them() -> None:
    rows = [(0, "A"), *LEFT[:1], (0, "B"), *LEFT[1:7], (0, "C"), *LEFT[7:11], (0, "D"), LEFT[11]]
    found = structure(_column(60, rows), WIDTH, HEIGHT)
    assert [element.text for element in found if element.kind is Kind.HEADING] == ["A", "B", "C", "D"]


@pytest.mark.parametrize("text", ["anchor, 12", "old mill 7", "beacon, 30d", "canal, 9–11", "(boat), 608, 889d"])
def test_entries_end_in_pages(text: str) -> None:
    assert is_indexed(text)


def test_text_is_no_index() -> None:
    assert index_openings(Column(lines(50, 100, PROSE * 4), 10.0)) is None
    dated = [f"{text} of 1990" if i % 3 == 0 else text for i, text in enumerate(PROSE * 6)]
    assert index_openings(Column(lines(50, 100, dated), 10.0)) is None


def test_contents_over_a_text_make_no_index_of_it() -> None:
    names = [f"{number} Part of the report {number + 3}" for number in range(1, 13)]
    column = Column(lines(50, 100, [*names, *PROSE * 3]), 10.0)
    assert index_openings(column) is not None
    assert index_openings(column, [True] * 12 + [False] * 12) is None
