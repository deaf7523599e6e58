"""Tables as reports of offices set them: half drawn, closely set, with names and notes inside their frames."""

from __future__ import annotations

from tests.unit.layout_support import HEIGHT, SIZE, WIDTH, grid, line, texts
from tests.unit.test_layout_splits import run
from warmwire.layout.page import Box, Element, Kind, Line
from warmwire.layout.structure import structure
from warmwire.layout.tables.found import row_slots
from warmwire.layout.tables.gaps import split_rows

NAMES = ["Salaries", "Fringe benefits", "Travel", "Office rent", "Training"]


def _table(found: list[Element]) -> Element:
    (table,) = [element for element in found if element.kind is Kind.TABLE]
    return table


def _lattice(xs: list[float], ys: list[float]) -> list[Box]:
    return [Box(xs[0], y, xs[-1], y + 1) for y in ys] + [Box(x, ys[0], x + 1, ys[-1]) for x in xs]


def test_labels_beside_drawn_cells_are_parted_by_their_rows() -> None:
    ys = [100.0 + 16 * i for i in range(7)]
    page = [line(54, 102, "Cost category", bold=True), line(204, 102, "Direct", bold=True), line(304, 102, "All")]
    for i, name in enumerate(NAMES):
        page += [line(54, 118 + 16 * i, name), line(204, 118 + 16 * i, f"{i + 3}1,000"), line(304, 118 + 16 * i, "7")]
    rules = [*_lattice([200, 300, 400], ys), Box(50, 116, 200, 117), Box(50, 196, 200, 197)]
    cells = grid(_table(structure(page, WIDTH, HEIGHT, rules=rules)))
    assert [row[0] for row in cells] == ["Cost category", *NAMES]


def test_columns_that_no_stroke_parts_are_columns() -> None:
    """Three pairs of columns side by side, with strokes only between the pairs."""
    page = []
    for left in (50, 200, 350):
        page += [line(left + 4, 102, "Age"), line(left + 80, 102, "Total")]
        for i in range(8):
            page += [
                line(left + 4, 118 + 13 * i, f"{left + i} years"),
                line(0, 118 + 13 * i, f"3,{left + 7 * i:03d}", right=left + 110),
            ]
    rules = _lattice([50, 198, 348, 500], [100, 116, 224])
    cells = grid(_table(structure(page, WIDTH, HEIGHT, rules=rules)))
    assert len(cells) == 9
    assert cells[1] == ["50 years", "3,050", "200 years", "3,200", "350 years", "3,350"]


def test_lines_of_a_drawn_head_are_one_row() -> None:
    xs, ys = [50.0, 200.0, 300.0, 360.0, 420.0, 480.0], [100.0, 146.0, 162.0, 178.0, 194.0]
    page = [line(xs[c] + 4, 130, text) for c, text in enumerate(["Measure", "Year)", "K", "Grade", "Grade"])]
    page += [line(204, 104, "Age 4"), line(204, 117, "(Head Start"), line(364, 117, "1"), line(424, 117, "3")]
    for i, name in enumerate(NAMES[:3]):
        page += [line(54, 148 + 16 * i, name), *(line(x + 4, 148 + 16 * i, "NA") for x in xs[1:-1])]
    cells = grid(_table(structure(page, WIDTH, HEIGHT, rules=_lattice(xs, ys))))
    assert cells[0] == ["Measure", "Age 4 (Head Start Year)", "K", "1 Grade", "3 Grade"]


def test_a_numbered_title_and_a_source_in_the_frame_are_no_rows() -> None:
    xs, ys = [50.0, 200.0, 300.0, 400.0], [100.0, 116.0, 132.0, 148.0, 164.0, 180.0]
    page = [line(54, 102, "Exhibit 9 Types of assessments"), line(54, 166, "Source: the national centre")]
    rows = [["Kind", "All", "Some"], ["General", "12", "4"], ["Alternate", "3", "2"]]
    page += [line(xs[c] + 4, 118 + 16 * r, text) for r, row in enumerate(rows) for c, text in enumerate(row)]
    rules = [Box(50, y, 400, y + 1) for y in ys] + [Box(x, 116, x + 1, 164) for x in (200, 300)]
    rules += [Box(x, 100, x + 1, 180) for x in (50, 400)]
    found = structure(page, WIDTH, HEIGHT, rules=rules)
    assert grid(_table(found)) == rows
    assert texts(found)[0] == "Exhibit 9 Types of assessments"
    assert texts(found)[-1] == "Source: the national centre"


def test_lines_of_heads_over_closely_set_rows_are_one_head() -> None:
    """Heads of one to four lines that end level: rows as close as lines tell nothing of them."""
    page = [line(x, 100 + 11 * i, text) for x, i, text in _stacked()]
    for r in range(6):
        page += [line(x, 155 + 11 * r, f"{r}{x}") for x in (50, 150, 250, 350)]
    rules = [Box(45, y, 400, y + 1) for y in (97, 150, 222)]
    head = grid(_table(structure(page, WIDTH, HEIGHT, rules=rules)))[0]
    assert head == ["Level (ppm)", "No.", "Body Weight (g)", "Weight Relative Control (%)"]


def _stacked() -> list[tuple[float, int, str]]:
    heads = {50: ["Level", "(ppm)"], 150: ["No."], 250: ["Body", "Weight", "(g)"]}
    heads[350] = ["Weight", "Relative", "Control", "(%)"]
    return [(x, 4 - len(texts) + i, text) for x, texts in heads.items() for i, text in enumerate(texts)]


def test_a_name_in_the_middle_of_the_figures_is_over_them() -> None:
    strips = [(150.0, 200.0), (230.0, 300.0), (330.0, 400.0), (430.0, 500.0)]
    table = Box(45, 98, 535, 200)

    def spans(*texts: Line) -> list[tuple[int, int]]:
        return [(slot.column, slot.colspan) for slot in row_slots(texts, 1, strips, table, SIZE) if slot.lines]

    assert spans(line(290, 118, "Enrollment, in thousands of them")) == [(1, 4)]
    assert spans(line(210, 118, "All of them, the whole year")) == [(0, 5)]
    assert spans(line(210, 118, "2007 and 2008, to May")) == [(1, 2)]
    assert spans(line(50, 118, "Actual"), line(290, 118, "Enrollment, in thousands of them")) == [(0, 1), (2, 2)]


def test_a_label_that_ends_in_a_comma_goes_on() -> None:
    page = [line(x, 102, text) for x, text in ((50, "Measure"), (300, "1997"), (400, "1998"))]
    for r, name in enumerate(["Premature mortality of all the people", "Income inequality"]):
        page += [line(50, 118 + 13 * r, name), line(300, 118 + 13 * r, "0.12"), line(400, 118 + 13 * r, "0.13")]
    page += [line(50, 144, "Inequality of health,"), line(300, 144, "0.09"), line(400, 144, "0.08")]
    page.append(line(50, 157, "ages 18 to 65"))
    rules = [Box(45, y, 450, y + 1) for y in (98, 115, 172)]
    cells = grid(_table(structure(page, WIDTH, HEIGHT, rules=rules)))
    assert cells[-1] == ["Inequality of health, ages 18 to 65", "0.09", "0.08"]


def test_the_scales_of_a_chart_are_no_table() -> None:
    page = [line(50, 100 + 30 * i, f"{54 - i},000") for i in range(5)]
    page += [line(400, 100 + 30 * i, f"0.{50 - 2 * i}") for i in range(5)]
    assert not [one for one in structure(page, WIDTH, HEIGHT) if one.kind is Kind.TABLE]


def test_amounts_a_space_apart_are_parted_where_their_neighbours_have_white() -> None:
    rows: list[Line] = []
    for y in (20.0, 33.0):
        rows += [line(50, y, "2-11"), line(100, y, "165,949"), line(160, y, "185,667")]
    near = run(46, (50, "3-5"), (92, "1,249,752"), (140, "1,364,492"))
    assert [one.text for one in split_rows([*rows, near])][-3:] == ["3-5", "1,249,752", "1,364,492"]
    typed = run(10, (95, "Mexican"), (135.52, "American"))  # a typewriter's space
    assert typed in split_rows([typed, *rows])


TEXT = (
    "This publication tells how rows and columns",
    "are kept from those who have no need of them",
    "and offers a broad description of what it takes",
    "to do so in a way that nobody has to think of",
    "when the data is asked for by a program, which",
    "is what most of the readers of it want to hear",
    "before they buy anything that has to be run",
)
TOPICS = ("Roles and duties", "of the staff", "Leverage rows", "on the database", "Protect columns")


def _leaflet() -> list[Line]:
    """A text, topics in larger print beside it, each on baselines of its own, and a column in another colour."""
    page = [line(54, 104 + 15 * i, text, 9, bold=True) for i, text in enumerate(TOPICS)]
    page += [line(150, 103 + 12 * i, text, 8) for i, text in enumerate(TEXT)]
    return page + [line(404, 104 + 13 * i, text, 9) for i, text in enumerate(("INTERNATIONAL", "SUPPORT", "OFFICE"))]


def test_texts_side_by_side_in_frames_are_no_table() -> None:
    frames = _lattice([45, 395, 500], [95, 200, 260])
    page = [*_leaflet(), line(150, 220, "REDP-5110-00"), line(404, 220, "For more"), line(404, 233, "information")]
    found = structure(page, WIDTH, HEIGHT, rules=frames)
    assert not [one for one in found if one.kind is Kind.TABLE]
    assert " ".join(TEXT) in texts(found)


def test_texts_side_by_side_between_rules_are_no_table() -> None:
    rules = [Box(45, y, 500, y + 1) for y in (95, 200, 240)]
    page = [*_leaflet(), line(54, 215, "Order"), line(150, 215, "REDP-5110-00")]
    found = structure(page, WIDTH, HEIGHT, rules=rules)
    assert not [one for one in found if one.kind is Kind.TABLE]
    assert " ".join(TEXT) in texts(found)
