"""Tables, drawn or only lined up: rows, columns, spans, and no word lost."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from tests.unit.layout_support import HEIGHT, OTHER, PROSE, WIDTH, grid, line, lines, texts, words_of
from warmwire.layout.page import Box, Element, Kind, Line
from warmwire.layout.rows import are_details, rows_of
from warmwire.layout.structure import structure

HEAD = ["Article", "Stock", "Price"]
ROWS = [["Heavy oven", "1,482", "82.90"], ["Planet", "96", "6.10"], ["Wide kettle", "645", "4.50"]]


def _rules(xs: list[float], ys: list[float], missing: tuple[Box, ...] = ()) -> list[Box]:
    """The strokes of a lattice, one for each side of each place, without the `missing` ones."""
    levels = [Box(a, y, b, y + 1) for y in ys for a, b in pairwise(xs)]
    uprights = [Box(x, a, x + 1, b) for x in xs for a, b in pairwise(ys)]
    return [stroke for stroke in levels + uprights if stroke not in missing]


def _cells(rows: list[list[str]], xs: list[float], ys: list[float]) -> list[Line]:
    return [line(xs[c] + 4, ys[r] + 4, text) for r, row in enumerate(rows) for c, text in enumerate(row) if text]


def _tables(found: list[Element]) -> list[Element]:
    return [element for element in found if element.kind is Kind.TABLE]


def test_a_drawn_table_between_paragraphs() -> None:
    xs, ys = [50.0, 200.0, 300.0, 400.0], [200.0, 220.0, 240.0, 260.0, 280.0]
    page = [*lines(50, 100, PROSE), *_cells([HEAD, *ROWS], xs, ys), *lines(50, 320, OTHER)]
    found = structure(page, WIDTH, HEIGHT, rules=_rules(xs, ys))
    assert [element.kind for element in found] == [Kind.TEXT, Kind.TABLE, Kind.TEXT]
    assert grid(found[1]) == [HEAD, *ROWS]
    table = found[1].table
    assert table is not None
    assert [cell.header for cell in table.cells] == [True] * 3 + [False] * 9


def test_spans_are_where_strokes_are_missing() -> None:
    xs, ys = [50.0, 150.0, 250.0, 350.0], [100.0, 120.0, 140.0, 160.0]
    missing = (Box(50, 120, 150, 121), Box(250, 100, 251, 120))
    rows = [["Region", "First half", ""], ["", "Q1", "Q2"], ["South", "1", "2"]]
    (table,) = _tables(structure(_cells(rows, xs, ys), WIDTH, HEIGHT, rules=_rules(xs, ys, missing)))
    assert table.table is not None
    spans = {cell.text: (cell.rowspan, cell.colspan) for cell in table.table.cells}
    assert spans["Region"] == (2, 1)
    assert spans["First half"] == (1, 2)
    assert spans["Q2"] == (1, 1)
    assert {cell.text for cell in table.table.cells if cell.header} == {"Region", "First half", "Q1", "Q2"}


def test_rows_are_found_where_only_columns_are_drawn() -> None:
    xs, ys = [50.0, 200.0, 300.0, 400.0], [200.0, 280.0]
    page = [line(xs[c] + 4, 204 + 18 * r, text) for r, row in enumerate([HEAD, *ROWS]) for c, text in enumerate(row)]
    (table,) = _tables(structure(page, WIDTH, HEIGHT, rules=_rules(xs, ys)))
    assert grid(table) == [HEAD, *ROWS]


def test_a_note_beside_the_grid_is_kept() -> None:
    xs, ys = [50.0, 200.0, 300.0], [100.0, 120.0, 140.0, 160.0]
    page = [*_cells([["a", "b"], ["c", "1"], ["d", "2"]], xs, ys), line(320, 122, "see page 4")]
    found = structure(page, WIDTH, HEIGHT, rules=_rules(xs, ys))
    assert words_of(found) == sorted(["a", "b", "c", "1", "d", "2", "see", "page", "4"])


def test_frames_and_charts_are_no_tables() -> None:
    frame = _rules([50.0, 400.0], [90.0, 200.0])
    bars = _rules([60.0, 80.0, 100.0, 120.0], [300.0, 350.0, 400.0])
    assert _tables(structure(lines(60, 100, PROSE), WIDTH, HEIGHT, rules=[*frame, *bars])) == []


def test_figures_under_each_other_are_a_table() -> None:
    page = [*lines(50, 60, PROSE), *lines(50, 300, OTHER)]
    for r, row in enumerate([HEAD, *ROWS]):
        page += [line(54, 150 + 20 * r, row[0]), line(0, 150 + 20 * r, row[1], right=300)]
        page.append(line(0, 150 + 20 * r, row[2], right=420))
    found = structure(page, WIDTH, HEIGHT)
    assert [element.kind for element in found] == [Kind.TEXT, Kind.TABLE, Kind.TEXT]
    assert grid(found[1]) == [HEAD, *ROWS]


def test_a_receipt_is_a_table_of_two_columns() -> None:
    page = [line(54, 150 + 15 * r, row[0]) for r, row in enumerate(ROWS)]
    page += [line(0, 150 + 15 * r, row[2], right=200) for r, row in enumerate(ROWS)]
    (table,) = _tables(structure(page, 250, HEIGHT))
    assert grid(table) == [[row[0], row[2]] for row in ROWS]


def test_wrapped_cells_stay_in_their_row() -> None:
    page = []
    for r, name in enumerate(["Lamp", "Saddle", "Engine"]):
        top = 100 + 50 * r
        page += [line(54, top, name), line(0, top, f"{r + 3}.20", right=500)]
        page += lines(150, top, ["It was moved near the bottle house", "by the clerk and then closed."])
    (table,) = _tables(structure(page, WIDTH, HEIGHT))
    assert [row[1] for row in grid(table)] == ["It was moved near the bottle house by the clerk and then closed."] * 3


def test_a_head_may_span_columns() -> None:
    rows = [["Place", "", "", ""], *[[f"Place {n}", f"{n}.5", f"{n}7", f"{n},100"] for n in range(6)]]
    page = [line(54 + 100 * c, 100 + 18 * r, text) for r, row in enumerate(rows) for c, text in enumerate(row) if text]
    page.append(line(160, 100, "Both of the halves of it"))
    (table,) = _tables(structure(page, WIDTH, HEIGHT))
    assert table.table is not None
    assert max(cell.colspan for cell in table.table.cells if cell.row == 0) >= 2


def test_prose_in_columns_and_lists_are_no_tables() -> None:
    columns = [*lines(50, 100, PROSE * 2), *lines(320, 100, OTHER * 2)]
    marks = [line(50, 300 + 13 * i, f"{i}.") for i in range(1, 5)]
    marks += [line(70, 300 + 13 * i, f"{i} lamps") for i in range(1, 5)]
    assert _tables(structure([*columns, *marks], WIDTH, HEIGHT)) == []


def test_a_contents_list_is_read_line_by_line() -> None:
    page = [line(50, 100 + 14 * i, f"Chapter of part {'abcd'[i]} .......") for i in range(4)]
    page += [line(0, 100 + 14 * i, str(3 * i + 1), right=400) for i in range(4)]
    found = structure(page, WIDTH, HEIGHT)
    assert " ".join(texts(found)) == " ".join(f"Chapter of part {'abcd'[i]} {3 * i + 1}" for i in range(4))


def test_bars_and_backslashes_are_text() -> None:
    xs, ys = [50.0, 200.0, 300.0], [100.0, 120.0, 140.0]
    rows = [["a | b", "<b>"], ["c\\d", "1"]]
    (table,) = _tables(structure(_cells(rows, xs, ys), WIDTH, HEIGHT, rules=_rules(xs, ys)))
    assert grid(table) == rows


def test_a_table_between_labels_and_sums_is_a_table_of_its_own() -> None:
    """Invoices set all three at one distance; only their columns tell them apart."""
    labels = [("Date:", "05.09.2024"), ("Customer number:", "10447"), ("Period of service:", "August 2024")]
    items = [("No.", "Item", "Amount", "Price", "Sum")]
    items += [(str(i), f"Boards of oak {i}", "24 m", "68,50", "1.644,00") for i in range(1, 5)]
    sums = [("Sum of these items", "2.618,00"), ("Value added tax", "497,42"), ("To be paid by you", "3.115,42")]
    places = [(50, 180)] * 3 + [(50, 80, 300, 380, 460)] * 5 + [(50, 200)] * 3
    page = [
        line(x, 100 + i * 18, text)
        for i, (row, xs) in enumerate(zip([*labels, *items, *sums], places, strict=True))
        for x, text in zip(xs, row, strict=True)
    ]
    found = structure(page, WIDTH, HEIGHT)
    tables = [grid(element) for element in found if element.kind is Kind.TABLE]
    assert tables == [[list(row) for row in items], [list(row) for row in sums]]
    assert texts(found)[:3] == [f"{label} {value}" for label, value in labels]


def test_a_title_in_a_bar_over_a_drawn_table_heads_it() -> None:
    xs, ys = [50.0, 200.0, 300.0, 400.0], [200.0, 220.0, 240.0, 260.0, 280.0, 300.0]
    bar = (Box(200, 200, 201, 220), Box(300, 200, 301, 220))
    title = line(54, 203, "D Costs", 12, True)
    page = [*lines(50, 100, PROSE), title, *_cells([[], HEAD, *ROWS], xs, ys)]
    found = structure(page, WIDTH, HEIGHT, rules=_rules(xs, ys, bar))
    assert [element.text for element in found[1:-1]] == ["D Costs"]
    assert grid(found[-1]) == [HEAD, *ROWS]


def test_rows_that_drift_down_the_page_hold_together() -> None:
    cells = [line(60 + 50 * c, 100 + 14 * r + 0.9 * c, f"{r}.{c}") for r in range(4) for c in range(9)]
    dash = replace(line(60 + 50 * 9, 0, "-"), box=Box(510, 112, 514, 114))
    rows = rows_of([*cells, dash])
    assert [len(row) for row in rows] == [10, 9, 9, 9]
    assert [run.text for run in rows[0]] == [*(f"0.{c}" for c in range(9)), "-"]


def test_the_columns_of_an_index_are_no_table() -> None:
    names = ("anchor", "barrel", "cable", "dredger", "engine", "ferry")
    page = [line(x, 100 + i * 14, f"{name} {x}, {i + 7}") for i, name in enumerate(names) for x in (50, 230, 410)]
    found = structure(page, WIDTH, HEIGHT)
    assert {element.kind for element in found} == {Kind.LIST_ITEM}
    assert len(found) == 3 * len(names)


def test_contents_without_leaders_are_a_list() -> None:
    entries = [("1 Ships", 3), ("1.1 Sails", 4), ("1.2 Masts", 9), ("2 Harbours", 15), ("2.1 Quays", 15), ("Index", 20)]
    page = [
        line(x, 100 + i * 14, str(v)) for i, entry in enumerate(entries) for x, v in zip((50, 500), entry, strict=True)
    ]
    found = structure(page, WIDTH, HEIGHT)
    assert [(element.kind, element.text) for element in found] == [
        (Kind.LIST_ITEM, f"{name} {page}") for name, page in entries
    ]


def test_labels_with_figures_of_one_kind_are_cells_and_not_details() -> None:
    assert are_details(["Account 83210043", "Sort code 70-69-45", "Statement 61"])
    assert not are_details(["Building 4", "Building 7", "Building 9"])
    assert not are_details(["12", "Statement 61"])
    assert not are_details(["Paid on 3 May, at noon", "Statement 61"])
