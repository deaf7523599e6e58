"""Listings: their lines, indents and empty lines."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.layout_support import HEIGHT, PROSE, WIDTH, line, lines, texts
from warmwire.layout.page import Kind, Line
from warmwire.layout.structure import structure


def _code(top: float, rows: dict[int, str]) -> list[Line]:
    """Lines of a listing, each by its number from the first."""
    found = []
    for row, text in rows.items():
        bare = text.lstrip()
        found.append(replace(line(60 + 5 * (len(text) - len(bare)), top + 12 * row, bare), mono=True))
    return found


def _page(rows: dict[int, str]) -> list[Line]:
    prose = [replace(one, mono=False) for one in (*lines(50, 60, PROSE), *lines(50, 400, PROSE))]
    return [*prose, *_code(160, rows)]


def test_empty_lines_part_no_listing() -> None:
    rows = {0: "import lamps", 2: "def load(ship):", 3: "    lift(ship)", 5: "load(lamps)"}
    found = texts(structure(_page(rows), WIDTH, HEIGHT), Kind.CODE)
    assert found == ["import lamps\n\ndef load(ship):\n    lift(ship)\n\nload(lamps)"]


def test_what_stands_far_apart_is_no_one_listing() -> None:
    rows = {0: "import lamps", 1: "load(lamps)", 6: "import bells", 7: "ring(bells)"}
    assert texts(structure(_page(rows), WIDTH, HEIGHT), Kind.CODE) == [
        "import lamps\nload(lamps)",
        "import bells\nring(bells)",
    ]
