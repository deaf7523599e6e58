"""Reading order: columns, headings over them, tables and pictures between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.layout_support import HEIGHT, OTHER, PROSE, SIZE, WIDTH, line, lines, texts, words_of
from warmwire.layout.order.columns import columns
from warmwire.layout.page import Box, Element, Kind
from warmwire.layout.structure import structure


def _joined(*parts: tuple[str, ...]) -> list[str]:
    return [" ".join(part) for part in parts]


def test_two_columns_are_read_one_after_the_other() -> None:
    page = [*lines(50, 100, PROSE), *lines(320, 100, OTHER)]
    assert texts(structure(page, WIDTH, HEIGHT)) == _joined(PROSE, OTHER)


def test_three_columns_whose_lines_do_not_stand_level() -> None:
    page = [line(x, 100 + i * 14 + x / 60, text, 6) for x in (40, 225, 410) for i, text in enumerate(PROSE)]
    assert texts(structure(page, WIDTH, HEIGHT)) == _joined(PROSE, PROSE, PROSE)


def test_a_comma_that_hangs_over_its_column_does_not_part_a_narrow_gutter() -> None:
    left, right = lines(50, 100, PROSE * 4), lines(284, 100, OTHER * 4)
    left[6].box = replace(left[6].box, right=276.5)
    assert " ".join(texts(structure([*left, *right], WIDTH, HEIGHT))) == " ".join(PROSE * 4 + OTHER * 4)


def test_a_paragraph_goes_on_past_notes_and_figures_in_the_next_column() -> None:
    """In both columns notes stand at the foot; the paragraph ends open, and goes on below a figure and its caption."""
    notes = (["1 A first note that says where", "all this was found"], ["2 A second note of two lines", "as well"])
    page = [*lines(50, 500, PROSE[:3]), *lines(50, 600, notes[0], 7), *lines(320, 600, notes[1], 7)]
    page += [*lines(320, 300, ["Figure 4. The bell of the harbour"], 7), *lines(320, 500, [PROSE[3], *OTHER])]
    page += lines(50, 100, OTHER * 6)
    found = structure(page, WIDTH, HEIGHT, figures=[Box(320, 100, 545, 290)])
    (text,) = [text for text in texts(found, Kind.TEXT) if "harbour at noon" in text]
    assert text.startswith(" ".join(PROSE))
    assert [note.split()[0] for note in texts(found, Kind.FOOTNOTE)] == ["1", "2"]


def test_a_wide_heading_parts_the_page_into_bands() -> None:
    upper = [*lines(50, 100, PROSE), *lines(320, 100, OTHER)]
    lower = [*lines(50, 300, OTHER), *lines(320, 300, PROSE)]
    heading = line(50, 200, "What the second half of this report is about", 18, True)
    found = structure([*lower, heading, *upper], WIDTH, HEIGHT)
    assert texts(found) == [*_joined(PROSE, OTHER), heading.text, *_joined(OTHER, PROSE)]
    assert found[2].kind is Kind.HEADING


def test_a_short_heading_below_both_columns_opens_what_follows() -> None:
    columns_ = [*lines(50, 100, PROSE), *lines(320, 100, OTHER)]
    after = line(50, 220, "This one goes over the whole width of the page, from the left margin to the right one")
    found = structure([*columns_, line(50, 190, "Results", 14, True), after], WIDTH, HEIGHT)
    assert texts(found) == [*_joined(PROSE, OTHER), "Results", after.text]


def test_a_narrow_section_below_both_columns_is_read_after_them() -> None:
    """Nothing of it reaches into the gutter, so only its heading tells that the columns have ended."""
    section = [line(50, 200, "Rules", 14, True), line(50, 224, "Wash your hands"), line(50, 238, "Use pencils only")]
    for right in (OTHER, OTHER[:-1]):
        found = structure([*lines(50, 100, PROSE), *lines(320, 100, right), *section], WIDTH, HEIGHT)
        assert texts(found)[:3] == [*_joined(PROSE, right), "Rules"]


def test_a_heading_far_down_a_long_column_stays_in_it() -> None:
    left = [*lines(50, 100, PROSE * 2), line(50, 290, "Rules", 14, True), *lines(50, 314, OTHER)]
    found = texts(structure([*left, *lines(320, 100, OTHER)], WIDTH, HEIGHT))
    assert found == [*_joined(PROSE * 2), "Rules", *_joined(OTHER, OTHER)]


def test_a_column_that_ends_a_section_lower_goes_on() -> None:
    """Text under the shorter right column, out to the left one's right edge, is no section of its own."""
    left = [*lines(50, 100, PROSE), line(50, 160, "Rules", 14, True), *lines(50, 184, OTHER)]
    found = texts(structure([*left, *lines(320, 100, PROSE)], WIDTH, HEIGHT))
    assert found == [*_joined(PROSE), "Rules", *_joined(OTHER, PROSE)]


def test_the_short_last_line_of_a_wide_paragraph_is_no_part_of_the_left_column() -> None:
    wide = [
        line(50, 100 + i * 15, "Abstract words run on over both columns to the margin on the right, as they do", 11)
        for i in range(2)
    ]
    page = [*wide, line(50, 130, "and end here.", 11), *lines(50, 170, PROSE), *lines(320, 170, OTHER)]
    found = texts(structure(page, WIDTH, HEIGHT))
    assert found == [f"{wide[0].text} {wide[1].text} and end here.", *_joined(PROSE, OTHER)]


def test_a_line_under_the_title_is_read_before_three_columns() -> None:
    title = line(150, 50, "The Harbour Messenger", 28, True)
    under = line(250, 95, "Number 41, Spring", 10)
    columns_ = [line(x, 130 + i * 8, text, 6) for x in (40, 225, 410) for i, text in enumerate(PROSE)]
    found = texts(structure([title, under, *columns_], WIDTH, HEIGHT))
    assert found == [title.text, under.text, *_joined(PROSE, PROSE, PROSE)]


def test_the_last_lines_of_a_long_column_are_not_taken_for_what_follows() -> None:
    left = lines(50, 100, PROSE * 2)
    footnote = line(50, 240, "1 A note over more than half of the width, so that it reaches into the gutter", 8)
    page = [*left, *lines(320, 100, OTHER), footnote]
    assert texts(structure(page, WIDTH, HEIGHT))[0].startswith(" ".join(PROSE))
    assert texts(structure(page, WIDTH, HEIGHT))[-1] == footnote.text


def test_labels_and_values_are_read_across() -> None:
    rows = [("Invoice no:", "17593"), ("Date:", "27 March 2020"), ("Customer:", "Edith Varga")]
    page = [*lines(50, 100, [label for label, _ in rows]), *lines(250, 100, [value for _, value in rows])]
    assert texts(structure(page, WIDTH, HEIGHT)) == [
        "Invoice no: 17593",
        "Date: 27 March 2020",
        "Customer: Edith Varga",
    ]


def test_address_blocks_side_by_side_are_two_blocks() -> None:
    page = [
        *lines(50, 100, ["Sender", "Holt & Farrow", "Orchard Way", "Saltford"]),
        *lines(320, 100, ["Recipient", "Irene Varga", "Harbour Road", "Stonewell"]),
    ]
    read = " ".join(texts(structure(page, WIDTH, HEIGHT)))
    assert read == "Sender Holt & Farrow Orchard Way Saltford Recipient Irene Varga Harbour Road Stonewell"


def test_a_picture_stands_where_it_is_and_keeps_its_text() -> None:
    page = [*lines(50, 100, PROSE), line(120, 250, "2015 2016"), *lines(50, 400, OTHER)]
    figure = Box(50, 180, 400, 350)
    found = structure(page, WIDTH, HEIGHT, figures=[figure])
    assert [element.kind for element in found] == [Kind.TEXT, Kind.PICTURE, Kind.TEXT, Kind.TEXT]
    assert found[2].text == "2015 2016"


def test_a_figure_full_of_text_is_no_picture() -> None:
    page = lines(50, 100, PROSE)
    found = structure(page, WIDTH, HEIGHT, figures=[Box(45, 95, 280, 160)])
    assert texts(found) == _joined(PROSE)


def test_a_photo_of_a_sheet_is_no_picture() -> None:
    page = [line(x, y + i * 60, text) for x, y in ((60, 100), (330, 100)) for i, text in enumerate(PROSE)]
    sheet = Box(20, 20, 580, 700)
    assert Kind.PICTURE not in [element.kind for element in structure(page, WIDTH, HEIGHT, figures=[sheet])]


def test_a_table_on_a_tinted_ground_is_no_picture() -> None:
    rows = [("Model", "Housing", "Code"), ("AX-1", "Bronze", "118"), ("AX-2", "Steel", "119"), ("AX-3", "Iron", "120")]
    table = [
        line(x, 300 + i * 30, text) for i, row in enumerate(rows) for x, text in zip((60, 260, 460), row, strict=True)
    ]
    ground = Box(50, 290, 560, 420)
    found = structure([*lines(50, 100, PROSE), *table], WIDTH, HEIGHT, figures=[ground])
    assert [element.kind for element in found] == [Kind.TEXT, Kind.TABLE]


def test_every_word_is_kept_once_whatever_the_page() -> None:
    page = [
        *lines(50, 100, PROSE),
        *lines(320, 100, OTHER),
        line(560, 120, "margin"),
        line(10, 400, "x"),
        *lines(50, 300, ["1. one", "2. two", "", "(c"]),
        line(50, 301, "over the first"),
    ]
    expected = sorted(" ".join(one.text for one in page).split())
    assert words_of(structure(page, WIDTH, HEIGHT)) == expected


def test_nothing_gives_nothing() -> None:
    assert structure([], WIDTH, HEIGHT) == []
    assert columns([], SIZE) == []
    assert columns([Element(Kind.PICTURE, box=Box(0, 0, 1, 1))], SIZE) != []


def test_a_sideways_line_in_the_margin_cuts_no_paragraph() -> None:
    stamp = replace(line(20, 60, "Archive 2031"), box=Box(20, 60, 34, 400), angle=-90.0)
    found = structure([*lines(50, 100, PROSE), stamp], WIDTH, HEIGHT)
    assert [(element.kind, element.text) for element in found] == [
        (Kind.TEXT, " ".join(PROSE)),
        (Kind.PAGE_FOOTER, "Archive 2031"),
    ]


def test_a_long_stamp_beside_two_lines_is_not_the_page() -> None:
    stamp = replace(line(20, 60, "Archive copy of the harbour office " * 6, 9), box=Box(20, 0, 32, 700), angle=-90.0)
    first, second = line(72, 61, "Hello world", 11), line(72, 75, "Second line here", 11)
    elements = structure([stamp, first, second], WIDTH, HEIGHT)
    assert texts(elements, Kind.TEXT) == ["Hello world Second line here"]
    assert texts(elements, Kind.PAGE_FOOTER) == [stamp.text.strip()]


def test_a_watermark_is_furniture() -> None:
    mark = replace(line(100, 60, "DRAFT", 60), box=Box(100, 60, 500, 460), angle=-45.0)
    found = structure([mark, *lines(50, 100, PROSE)], WIDTH, HEIGHT)
    assert [(element.kind, element.text) for element in found] == [
        (Kind.TEXT, " ".join(PROSE)),
        (Kind.PAGE_FOOTER, "DRAFT"),
    ]


def test_a_stage_that_fails_is_named_and_costs_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("broken")

    page = [*lines(50, 100, PROSE), *lines(320, 100, OTHER)]
    names = {"grid_tables": "ruled tables", "furniture": "furniture", "columns": "columns", "paragraphs": "paragraphs"}
    for name, stage in names.items():
        with monkeypatch.context() as patch:
            patch.setattr(f"warmwire.layout.structure.{name}", fail)
            skipped: list[str] = []
            found = structure(page, WIDTH, HEIGHT, skipped=skipped)
            assert skipped == [stage]
            assert words_of(found) == sorted(" ".join((*PROSE, *OTHER)).split())


def test_rows_that_share_no_white_are_no_table() -> None:
    page = [
        line(50 + shift + 180 * column, 100 + row * 15, "three small words here now")
        for row, shift in enumerate((0, 70, 140, 30, 100, 10))
        for column in range(2)
    ]
    skipped: list[str] = []
    assert Kind.TABLE not in {element.kind for element in structure(page, WIDTH, HEIGHT, skipped=skipped)}
    assert skipped == []


def test_a_left_side_that_opens_the_page_leaves_nothing_behind() -> None:
    """Two narrow lines under a wide paragraph, with a lone line beside the second."""
    page = [*lines(50, 100, [" ".join(PROSE[:2]), " ".join(PROSE[:2]), "ends here."]), *lines(400, 160, ["aside", "x"])]
    skipped: list[str] = []
    assert words_of(structure(page, WIDTH, HEIGHT, skipped=skipped)) == sorted(
        " ".join(one.text for one in page).split()
    )
    assert skipped == []


def test_the_longest_gutter_wins_over_a_wider_one_between_short_lines() -> None:
    long, short = "an entry of some words, up to its column's edge", "a short one, 12"
    left = [long] * 6 + [short] * 14 + [long] * 6
    right = [line(288 + 14 * (6 <= i < 20), 100 + 13 * i, f"entries on the right, {i}") for i in range(26)]
    found = columns([*lines(40, 100, left), *right], SIZE)
    assert [len(column) for column in found] == [26, 26]


@pytest.mark.parametrize("right", [["Account 83210043", "Sort code 70-69-45", "Statement 61"], ["Room 4", "Floor 2"]])
def test_an_address_beside_details_is_read_before_them(right: list[str]) -> None:
    left = ["Clara Tallis", "47 Ferry Terrace", "Saltford E81 2MR"]
    found = structure([*lines(50, 100, left), *lines(200, 100, right), *lines(50, 200, PROSE)], WIDTH, HEIGHT)
    assert [text.replace("\n", " ") for text in texts(found)] == _joined(tuple(left), tuple(right), PROSE)


def test_traces_around_lines_of_the_text_are_no_picture() -> None:
    page = [
        line(50, 100, "Visitors' guide", 16, True),
        line(50, 130, "English", 12, True),
        *lines(50, 150, PROSE + OTHER),
    ]
    found = structure(page, WIDTH, HEIGHT, figures=[Box(48, 90, 400, 148)])
    assert [element.kind for element in found][-1] is Kind.TEXT
    assert Kind.PICTURE not in {element.kind for element in found}
    drawing = Box(40, 300, 400, 450)
    labels = [line(60, 320, "Source"), line(200, 340, "Sink"), line(300, 400, "Valve")]
    assert Kind.PICTURE in {e.kind for e in structure([*page, *labels], WIDTH, HEIGHT, figures=[drawing])}


def test_two_lists_side_by_side_are_no_table() -> None:
    left = [
        line(x, 100 + 16 * i, t) for i in range(6) for x, t in ((50, "*"), (64, f"{i + 2}0 ml of {PROSE[i % 4][4:18]}"))
    ]
    right = [
        one
        for i in range(3)
        for one in lines(230, 100 + 36 * i, [f"{i + 1}. {PROSE[i]}", "   and to the end of it all."], pitch=1.2)
    ]
    found = structure([*left, *right], WIDTH, HEIGHT)
    assert {element.kind for element in found} == {Kind.LIST_ITEM}
    assert [element.marker for element in found] == ["*"] * 6 + ["1.", "2.", "3."]


def test_a_stamp_beside_a_heading_does_not_part_it() -> None:
    heading = [
        line(50, 100, "A heading in large type that goes on", 16),
        line(50, 120, "in a second line of the same", 16),
    ]
    page = [*heading, line(500, 112, "Seen", 10), *lines(50, 160, PROSE + OTHER)]
    found = structure(page, WIDTH, HEIGHT)
    assert " ".join(one.text for one in heading) in texts(found)


def test_text_beside_the_numbers_of_a_list_is_no_table() -> None:
    works = [f"A. Holt and B. Farrow. {text[4:20]}, 19{n}0." for n, text in enumerate(PROSE + OTHER[:2])]
    numbers = [line(300, 100 + 13 * n, f"{n + 3}.") for n in range(len(works))]
    page = [*lines(40, 100, [text[:40] for text in PROSE + OTHER]), *numbers, *lines(318, 100, works)]
    assert Kind.TABLE not in {element.kind for element in structure(page, WIDTH, HEIGHT)}
