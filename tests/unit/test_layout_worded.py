"""Tables whose cells are texts."""

from __future__ import annotations

from tests.unit.layout_support import HEIGHT, WIDTH, grid, line, lines
from warmwire.layout.page import Kind, Line
from warmwire.layout.structure import structure

CELLS = [
    ["Place", "What was seen", "What was done", "Who"],
    ["North mill", "The wheel had|not turned for|three weeks.", "Opened the gate", "Ada Holt"],
    ["Old bridge", "Two planks gone", "New planks were|laid before the|market opened.", "Paul Marsh"],
    ["Harbour", "Nothing", "No work was|needed here.", "Clara Kerr"],
    ["Canal", "Mud up to the|second mark", "Asked the town|to clear it.", "Nils Farrow"],
]


def _page(cells: list[list[str]], pitch: float = 12.0) -> list[Line]:
    page, y = [], 100.0
    for row in cells:
        parts = [cell.split("|") for cell in row]
        page += [line(50 + 120 * c, y + pitch * i, text) for c, cell in enumerate(parts) for i, text in enumerate(cell)]
        y += pitch * max(map(len, parts))
    return page


def test_texts_in_cells_are_a_table_although_its_rows_stand_no_wider_apart_than_lines() -> None:
    (table,) = (one for one in structure(_page(CELLS), WIDTH, HEIGHT) if one.kind is Kind.TABLE)
    assert grid(table) == [[cell.replace("|", " ") for cell in row] for row in CELLS]


def test_columns_of_a_page_are_none() -> None:
    text = [
        "The keeper counted the",
        "lamps near the river and",
        "wrote it down. The boat",
        "left the harbour at noon.",
    ]
    page = [one for x in (50, 220, 390) for one in lines(x, 100, text * 4)]
    assert not [one for one in structure(page, WIDTH, HEIGHT) if one.kind is Kind.TABLE]
