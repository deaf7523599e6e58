"""Tables between level rules, and what only looks like a table."""

from __future__ import annotations

from tests.unit.layout_support import HEIGHT, OTHER, PROSE, WIDTH, grid, line, lines, texts, words_of
from warmwire.layout.page import Box, Element, Kind, Line
from warmwire.layout.splits import split_at
from warmwire.layout.structure import structure
from warmwire.layout.tables.strips import columns_of


def _level(*ys: float, left: float = 50, right: float = 450) -> list[Box]:
    return [Box(left, y, right, y + 1) for y in ys]


def _row(y: float, *cells: str, xs: tuple[float, ...] = (54, 200, 280, 350)) -> list[Line]:
    return [line(x, y, text) for x, text in zip(xs, cells, strict=False) if text]


def _table(found: list[Element]) -> Element:
    (table,) = [element for element in found if element.kind is Kind.TABLE]
    return table


def test_three_rules_bound_a_table_and_its_head() -> None:
    page = [
        *lines(50, 60, PROSE),
        *_row(204, "Group", "", "", "Result"),
        line(215, 204, "Cases per year"),
        *_row(220, "", "new", "old"),
        *_row(244, "South", "55", "160", "Sketches returned"),
        line(350, 257, "within six months"),
        *_row(280, "Coast", "128", "21", "Rivers opened"),
        line(54, 300, "All that follows was counted by hand"),
        *_row(316, "Hills", "–", "39", "Nails stored"),
        *lines(50, 380, OTHER),
    ]
    rules = [*_level(200, 238, 334), *_level(217, left=195, right=310)]
    found = structure(page, WIDTH, HEIGHT, rules=rules)
    assert grid(_table(found)) == [
        ["Group", "Cases per year", "", "Result"],
        ["", "new", "old", ""],
        ["South", "55", "160", "Sketches returned within six months"],
        ["Coast", "128", "21", "Rivers opened"],
        ["All that follows was counted by hand", "", "", ""],
        ["Hills", "–", "39", "Nails stored"],
    ]
    table = _table(found).table
    assert table is not None
    heads = {cell.text: (cell.rowspan, cell.colspan) for cell in table.cells if cell.header}
    assert heads == {"Group": (2, 1), "Cases per year": (1, 2), "Result": (2, 1), "new": (1, 1), "old": (1, 1)}
    assert texts(found, Kind.TEXT) == [" ".join(PROSE), " ".join(OTHER)]


def test_a_rule_under_each_row_parts_the_rows_and_the_head_above_belongs() -> None:
    page = [
        *_row(100, "No.", "Action", "", "Owner"),
        *_row(120, "4.1", "The keeper counts", "", "Simon"),
        line(200, 133, "all lamps again."),
        *_row(153, "4.2", "The roof is mended", "", "Clara"),
        *_row(173, "4.3", "The gate is painted", "", "Jonas"),
    ]
    rules = _level(116, 149, 169, 189)
    assert grid(_table(structure(page, WIDTH, HEIGHT, rules=rules))) == [
        ["No.", "Action", "Owner"],
        ["4.1", "The keeper counts all lamps again.", "Simon"],
        ["4.2", "The roof is mended", "Clara"],
        ["4.3", "The gate is painted", "Jonas"],
    ]


def test_a_run_over_two_columns_is_cut_where_the_others_begin() -> None:
    xs = (54, 150, 305)
    page = [
        *_row(104, "No.", "Action", "Owner", xs=xs),
        *_row(124, "1", "The keeper counts the lamps", "Simon March", xs=xs),
        *_row(144, "2", "The council mends the old roofs Clara Holt", xs=xs),
        *_row(164, "3", "The gate is painted", "Jonas Penn", xs=xs),
        *_row(184, "4", "The river is cleaned", "Edith Tallis", xs=xs),
    ]
    cells = grid(_table(structure(page, WIDTH, HEIGHT, rules=_level(100, 120, 200))))
    assert cells[2] == ["2", "The council mends the old roofs", "Clara Holt"]


def test_a_run_is_cut_at_the_nearest_space() -> None:
    parts = split_at(line(0, 0, "but not the Peter Dunmore"), 62, 15)
    assert parts is not None
    assert [part.text for part in parts] == ["but not the", "Peter Dunmore"]
    assert split_at(line(0, 0, "inseparable"), 30, 15) is None
    assert split_at(line(0, 0, "far off"), 500, 15) is None


def test_a_heading_between_two_tables_of_one_width_parts_them() -> None:
    page = [
        *_row(104, "Train", "532", "613", "662"),
        *_row(124, "Halt", "5.14", "6.10", "6.30"),
        *_row(144, "Bridge", "5.30", "6.26", "6.46"),
        line(50, 190, "Saturdays and holidays", 12, True),
        *_row(224, "Train", "984", "584", "600"),
        *_row(244, "Mill", "5.28", "6.16", "7.16"),
        *_row(264, "Park", "5.35", "6.25", "7.18"),
    ]
    found = structure(page, WIDTH, HEIGHT, rules=_level(100, 120, 160, 220, 240, 280))
    assert [element.kind for element in found if element.kind is not Kind.HEADING] == [Kind.TABLE, Kind.TABLE]
    assert "Saturdays and holidays" in texts(found, Kind.HEADING, Kind.TITLE)


COLUMN = (
    "the keeper counted all the lamps",
    "near the river, and wrote it down",
    "in the green book of the harbour",
    "before the boat left at noon and",
    "nobody came to see what the bell",
    "was for, so the night crew went",
    "home over the bridge, which was",
    "closed again since the last storm.",
)


def test_columns_of_text_between_rules_are_no_table() -> None:
    page = [one for x in (30, 215, 400) for one in lines(x, 100, COLUMN)]
    uprights = [Box(x, 95, x + 1, 210) for x in (207, 392)]
    found = structure(page, WIDTH, HEIGHT, rules=[*_level(90, 215, left=30, right=570), *uprights])
    assert texts(found) == [" ".join(COLUMN)] * 3


def test_texts_side_by_side_off_each_others_baselines_are_no_table() -> None:
    names = ("Skills", "Nails", "Motors", "Lamps", "Roofs", "Spoken", "English", "German", "French", "Interests")
    side = [line(50, 100 + i * 18, text) for i, text in enumerate(names)]
    work = [line(200, 100 + i * 15 + i % 3 * 4, f"Assistant, Penrose and sons {i}") for i in range(12)]
    found = structure([*side, *work], WIDTH, HEIGHT)
    assert Kind.TABLE not in {element.kind for element in found}


def test_a_line_over_a_group_does_not_tear_a_table() -> None:
    xs = (54, 250, 330, 410)
    page = [
        *_row(100, "Lamps lit", "41.4", "80.0", "96.2", xs=xs),
        *_row(114, "Lamps mended", "44.3", "75.0", "85.9", xs=xs),
        line(50, 128, "Boats that left the harbour before noon", bold=True),
        *_row(142, "Boats under sail", "16.2", "57.1", "34.8", xs=xs),
        *_row(156, "Boats under oars", "86.4", "99.0", "98.3", xs=xs),
    ]
    found = structure(page, WIDTH, HEIGHT)
    assert len(grid(_table(found))) == 5
    assert words_of(found) == sorted(" ".join(one.text for one in page).split())


def test_rules_under_sums_do_not_take_the_figures_from_their_rows() -> None:
    xs = (54, 250, 330)
    rows = [("Vested", "910", "147"), ("Granted in the year", "4,799", "673"), ("Forfeited", "2,292", "732")]
    page = [one for i, row in enumerate(rows) for one in _row(104 + i * 14, *row, xs=xs)]
    rules = [rule for left in (245, 325) for rule in _level(100, 145, left=left, right=left + 81)]
    assert grid(_table(structure(page, WIDTH, HEIGHT, rules=rules)))[1] == ["Granted in the year", "4,799", "673"]


def test_years_above_the_first_rule_head_their_table() -> None:
    xs = (54.0, 200.0, 280.0, 350.0)
    rows = [_row(87, "2023", "2024", "2025e", xs=xs[1:])]
    rows += [_row(103 + 20 * i, text, "11.0", "12.0", "13.0") for i, text in enumerate(("Revenue", "Costs", "Result"))]
    found = structure([one for row in rows for one in row], WIDTH, HEIGHT, rules=_level(100, 120, 140, 160))
    assert grid(_table(found))[:2] == [["", "2023", "2024", "2025e"], ["Revenue", "11.0", "12.0", "13.0"]]


def test_a_head_in_the_white_belongs_to_the_column_whose_figures_it_covers() -> None:
    strips = [(60.0, 100.0), (105.0, 145.0), (156.0, 200.0)]
    assert columns_of(Box(76, 0, 105, 12), strips) == (1, 1)
    assert columns_of(Box(115, 0, 156, 12), strips) == (2, 2)
    assert columns_of(Box(90, 0, 170, 12), strips) == (1, 2)
    assert columns_of(Box(110, 0, 120, 12), strips) == (1, 1)
    assert columns_of(Box(40, 0, 300, 12), strips) == (0, 3)
    assert columns_of(Box(10, 0, 30, 12), strips) == (0, 0)
    assert columns_of(Box(190, 0, 400, 12), strips) == (3, 3)
