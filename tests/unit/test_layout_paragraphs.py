"""Paragraphs, lists, headings, hyphens, and what stands around the text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.layout_support import HEIGHT, OTHER, PROSE, SIZE, WIDTH, line, lines, texts
from warmwire.layout.blocks.markers import find_markers, markers_of
from warmwire.layout.blocks.paragraphs import paragraphs
from warmwire.layout.page import Box, Kind, Line
from warmwire.layout.structure import structure


def test_paragraphs_part_at_white_at_indents_and_at_full_stops() -> None:
    spaced = [*lines(50, 100, PROSE), *lines(50, 100 + 4 * 13 + 6, OTHER)]
    indented = [line(50 + 15 * (i % 4 == 0), 100 + i * 13, text) for i, text in enumerate(PROSE + OTHER)]
    for page in (spaced, indented):
        assert texts(structure(page, WIDTH, HEIGHT)) == [" ".join(PROSE), " ".join(OTHER)]


def test_a_numbered_list_with_wrapped_items() -> None:
    page = [
        *lines(50, 100, PROSE),
        line(60, 160, "1. The first of them is long enough to go on"),
        line(72, 173, "in a second line that hangs under the text"),
        line(60, 186, "2. Short"),
        line(60, 199, "3. Last"),
        *lines(50, 220, OTHER),
    ]
    found = structure(page, WIDTH, HEIGHT)
    items = [element for element in found if element.kind is Kind.LIST_ITEM]
    assert [(item.marker, item.ordered, item.level) for item in items] == [(f"{n}.", True, 1) for n in (1, 2, 3)]
    assert items[0].text == "The first of them is long enough to go on in a second line that hangs under the text"
    assert len(found) == 5


def test_levels_follow_the_indents() -> None:
    page = [
        line(50, 100, "1. outer"),
        line(70, 113, "a) middle"),
        line(90, 126, "– inner"),
        line(70, 139, "b) middle again"),
        line(50, 152, "2. outer again"),
    ]
    found = structure(page, WIDTH, HEIGHT)
    assert [element.level for element in found] == [1, 2, 3, 2, 1]
    assert [element.ordered for element in found] == [True, True, False, True, True]


@pytest.mark.parametrize(
    ("found", "markers"),
    [
        (["15. November 2024", "was a Friday"], [None, None]),
        (["3. first here", "4. second"], ["3.", "4."]),
        (["i) one", "ii) two", "iii) three"], ["i)", "ii)", "iii)"]),
        (["A. Smith wrote it"], [None]),
        (["1.347 of them", "2.611 of these"], ["1.", "2."]),
        (["☐ no", "☑ yes", "[x] also"], ["☐", "☑", "[x]"]),
        (["− of minus signs", "− of others", "− 12"], ["−", "−", None]),
        (["•tight", "- loose", "-minus"], ["•", "-", None]),
        (["1.) tea", "2.) milk"], ["1.)", "2.)"]),
        (["* a note to the table"], [None]),
        (["* tea", "* milk"], ["*", "*"]),
        (["— Good day, he said.", "— Good day."], [None, None]),
        (["- 3 -", "- 4.50"], [None, None]),
        (["o one", "o two", "o three"], ["o", "o", "o"]),
        (["o homem veio", "à casa e disse", "o que queria"], [None, None, None]),
        (["冈 yes", "口 no"], ["冈", "口"]),
    ],
)
def test_markers(found: list[str], markers: list[str | None]) -> None:
    read = find_markers(lines(50, 100, found), SIZE)
    assert [marker.text if marker else None for marker in read] == markers


def test_a_letter_may_be_a_roman_number() -> None:
    assert [marker.value for marker in markers_of("iv) x")] == [4]
    assert [marker.value for marker in markers_of("i) x")] == [9, 1]


def test_check_boxes() -> None:
    found = structure(lines(50, 100, ["☐ tea", "☒ milk"]), WIDTH, HEIGHT)
    assert [(element.kind, element.text) for element in found] == [(Kind.UNCHECKED, "tea"), (Kind.CHECKED, "milk")]


def test_headings_by_size_weight_and_number() -> None:
    page = [
        line(50, 60, "The quiet river", 20, True),
        line(50, 100, "First part", 13.5, True),
        *lines(50, 120, PROSE),
        line(50, 185, "Second part", 11.5, True),
        *lines(50, 205, OTHER),
        line(50, 270, "Bold but no larger", 10, True),
        *lines(50, 288, PROSE),
        line(50, 352, "2.1 Numbered", 14, True),
        *lines(50, 375, OTHER),
    ]
    found = [element for element in structure(page, WIDTH, HEIGHT) if element.kind is not Kind.TEXT]
    assert [(element.kind, element.level) for element in found] == [
        (Kind.TITLE, 1),
        (Kind.HEADING, 1),
        (Kind.HEADING, 2),
        (Kind.HEADING, 3),
        (Kind.HEADING, 2),
    ]


@pytest.mark.parametrize("text", ["118,325.00", "Due date: 23 December 2019", "and so it went on, as it always had."])
def test_large_or_bold_text_that_heads_nothing(text: str) -> None:
    page = [*lines(50, 100, PROSE), line(50, 165, text, 10, True), *lines(50, 185, OTHER)]
    assert Kind.HEADING not in {element.kind for element in structure(page, WIDTH, HEIGHT)}


def test_running_heads_feet_and_footnotes() -> None:
    page = [
        line(50, 20, "The quiet river", 8),
        line(530, 20, "47", 8),
        *lines(50, 100, PROSE * 4),
        line(50, 700, "¹ A note.", 7),
        line(50, 712, "2Another note.", 7),
        line(300, 770, "– 3 –", 8),
    ]
    found = structure(page, WIDTH, HEIGHT)
    assert texts(found, Kind.PAGE_HEADER) == ["The quiet river", "47"]
    assert texts(found, Kind.FOOTNOTE) == ["¹ A note.", "2 Another note."]
    assert texts(found, Kind.PAGE_FOOTER) == ["– 3 –"]


def test_a_letterhead_is_no_running_head() -> None:
    page = [*lines(400, 60, ["Marsh & Dunmore", "64 Quarry Close", "Eastlow"]), *lines(50, 200, PROSE)]
    assert Kind.PAGE_HEADER not in {element.kind for element in structure(page, WIDTH, HEIGHT)}


def test_captions_stand_near_what_they_name() -> None:
    page = [*lines(50, 100, PROSE), line(50, 360, "Figure 1. The river in spring."), *lines(50, 400, OTHER)]
    found = structure(page, WIDTH, HEIGHT, figures=[Box(50, 180, 400, 350)])
    assert texts(found, Kind.CAPTION) == ["Figure 1. The river in spring."]


def test_a_paragraph_goes_on_in_the_next_column() -> None:
    page = [
        *lines(50, 100, (*PROSE[:3], "and in the end they found an old libra-")),
        *lines(320, 100, ("rian there.", *OTHER)),
    ]
    assert "an old librarian there." in texts(structure(page, WIDTH, HEIGHT))[0]


def test_numbered_clauses_hang() -> None:
    page = [
        line(50, 100, "2.1 The tenant pays the rent on the first day of each month to the landlord"),
        line(78, 113, "or to whom the landlord names."),
        line(50, 126, "2.2 The landlord keeps the roof and the walls in a sound state of repair at all"),
        line(78, 139, "times of the year."),
    ]
    first, second = page[0].text + " " + page[1].text, page[2].text + " " + page[3].text
    assert texts(structure(page, WIDTH, HEIGHT)) == [first, second]


def test_numbers_in_brackets_count_references() -> None:
    """Set apart from their text by more than a space, they are runs of their own."""
    page = [line(50, 100, "[1]", 9), line(80, 100, "Brook, A. Channels and their banks. Eastmoor Press.", 9)]
    page += [line(50, 113, "[2]", 9), line(80, 113, "Quist, P. and Lane, R. Counting grains. Small Waters", 9)]
    page += [line(80, 126, "3, 44-51.", 9)]
    found = structure(page, WIDTH, HEIGHT)
    assert [(item.kind, item.marker) for item in found] == [(Kind.LIST_ITEM, "[1]"), (Kind.LIST_ITEM, "[2]")]
    assert found[1].text == "Quist, P. and Lane, R. Counting grains. Small Waters 3, 44-51."


def test_text_below_a_line_in_the_middle_is_a_paragraph_of_its_own() -> None:
    page = [line(230, 100, "Department of Water"), *lines(50, 115, ["Abstract. " + "word " * 19, "and more."])]
    assert texts(structure(page, WIDTH, HEIGHT))[0] == "Department of Water"


def test_a_heading_may_be_mostly_figures() -> None:
    page = [line(50, 60, "Rechnung Nr. 2024-0815", 16, True), *lines(50, 100, PROSE)]
    assert structure(page, WIDTH, HEIGHT)[0].kind in (Kind.TITLE, Kind.HEADING)


def test_short_lines_without_a_full_stop_are_one_block_of_lines() -> None:
    address = ["Marsh & Dunmore", "64 Quarry Close", "Eastlow E93 2LR"]
    page = [*lines(50, 100, PROSE), *lines(50, 190, address), *lines(50, 260, OTHER)]
    assert texts(structure(page, WIDTH, HEIGHT))[1] == "\n".join(address)


def test_double_spaced_text_has_paragraphs() -> None:
    page = [line(50 + 15 * (i % 4 == 0), 100 + i * 26, text) for i, text in enumerate(PROSE + OTHER)]
    assert texts(structure(page, WIDTH, HEIGHT)) == [" ".join(PROSE), " ".join(OTHER)]


def test_a_bold_run_in_opens_its_paragraph() -> None:
    run_in = line(50, 100, PROSE[0], bold=True)
    assert texts(structure([run_in, *lines(50, 113, PROSE[1:])], WIDTH, HEIGHT)) == [" ".join(PROSE)]


def test_recognised_sizes_stray_within_a_paragraph() -> None:
    sizes = (10.0, 11.2, 9.4, 10.6, 9.2, 11.4, 10.1, 9.0)
    page = [line(50, 100 + 13 * i, text, sizes[i], None) for i, text in enumerate(PROSE[:3] * 2)]
    assert len(structure(page, WIDTH, HEIGHT)) == 1


def test_entries_that_hang() -> None:
    page = []
    for i in range(4):
        page += [line(50, 100 + 39 * i, f"Brook, A. {i} Channels and the banks of rivers in")]
        page += [
            line(65, 113 + 39 * i, "the upper valley, with maps and notes on all of"),
            line(65, 126 + 39 * i, "them."),
        ]
    found = texts(structure(page, WIDTH, HEIGHT))
    assert [text[:11] for text in found] == [f"Brook, A. {i}" for i in range(4)]


def test_a_drop_cap_opens_its_word() -> None:
    cap = Line(Box(50, 100, 70, 126), "T", 1.0, 30.0, False)
    beside = [
        line(74, 100 + 13 * i, text) for i, text in enumerate(("he keeper counted the lamps near the", *PROSE[1:2]))
    ]
    found = texts(structure([cap, *beside, *lines(50, 126, PROSE[2:])], WIDTH, HEIGHT))
    assert found[0].startswith("The keeper counted the lamps near the and wrote")


def test_contents_are_a_list_without_their_dots() -> None:
    entries = [("1 The keeper", 3, 0), ("1.1 The lamps", 5, 20), ("2 The boat, and what became of it", 12, 0)]
    page = [line(50, 60, "Contents", 16, True)]
    for i, (text, number, indent) in enumerate(entries):
        page += [line(50 + indent, 100 + 14 * i, f"{text} " + "." * (40 - len(text)))]
        page += [line(0, 100 + 14 * i, str(number), right=500)]
    found = [element for element in structure(page, WIDTH, HEIGHT) if element.kind is Kind.LIST_ITEM]
    assert [(item.text, item.level) for item in found] == [
        ("1 The keeper 3", 1),
        ("1.1 The lamps 5", 2),
        ("2 The boat, and what became of it 12", 1),
    ]


def test_lines_far_shorter_than_the_columns_text_stay_lines() -> None:
    needed = ["4 jars of plums", "water", "2 lemons", "sugar, salt", "a stick of cinnamon, cloves"]
    page = [*lines(50, 100, needed), *lines(50, 190, PROSE + OTHER)]
    assert texts(structure(page, WIDTH, HEIGHT)) == ["\n".join(needed), " ".join(PROSE + OTHER)]


def test_a_name_in_a_typewriters_font_inside_a_sentence_is_no_code() -> None:
    text = [
        "The keeper counted the lamps, called in the book",
        "lamp_count, lamp_count_east, lamp_count_west and so",
        *PROSE,
    ]
    page = [replace(one, mono=i == 1) for i, one in enumerate(lines(50, 100, text))]
    assert texts(structure(page, WIDTH, HEIGHT)) == [" ".join(text)]


def test_a_bold_line_opens_and_ends_a_paragraph_however_wide_the_others_are() -> None:
    posts = [
        "• Central district report",
        "• Northern lantern method, district bridge",
        "• Old market harbour and workshop",
    ]
    page = [*lines(50, 100, posts), line(50, 139, "Assistant, Platform Partners", bold=True)]
    page += lines(50, 152, ["• Early engine canal", "• Early turbine depot"])
    page += [line(50, 200, "Languages", bold=True), *lines(50, 213, ["Useful towers", "Public canal, a committee"])]
    found = texts(structure(page, WIDTH, HEIGHT))
    assert {"Assistant, Platform Partners", "Languages"} <= set(found)


def test_two_lines_alone_far_apart_are_two_paragraphs() -> None:
    page = [
        line(50, 300, "Please complete in block letters. Do not write in the boxes."),
        line(50, 321, "A Open market"),
    ]
    assert len(structure(page, WIDTH, HEIGHT)) == 2


def test_the_title_stands_above_what_is_beside_it() -> None:
    """A narrow column beside the text begins a little below the name, and is read before it."""
    side = [line(40, 115, "Contact", bold=True), *lines(40, 128, ["81 Mill Road", "Northam"])]
    text = [line(250, 140, "Experience", 13, True), *lines(180, 160, PROSE)]
    found = structure([*side, line(220, 100, "Ada Okafor", 20, True), *text], WIDTH, HEIGHT)
    assert texts(found, Kind.TITLE) == ["Ada Okafor"]


@pytest.mark.parametrize(
    "post", ["Assistant, Sensor Partners, 2030–2033", "2018–2021 Public school", "Clerk (2019 - today)"]
)
def test_posts_with_their_years_are_no_headings(post: str) -> None:
    page = [*lines(50, 100, PROSE), line(50, 170, post, bold=True), *lines(50, 190, OTHER)]
    assert texts(structure(page, WIDTH, HEIGHT), Kind.HEADING) == []


def test_text_left_of_a_bullet_does_not_go_on_with_its_item() -> None:
    items = [f"• {text}" for text in ("Some flour from the mill by the river", "Butter from a farm on the other side")]
    page = [*lines(50, 100, PROSE), *lines(64, 152, items), *lines(50, 178, OTHER)]
    found = structure(page, WIDTH, HEIGHT)
    assert texts(found, Kind.LIST_ITEM) == [item[2:] for item in items]


def test_an_item_set_larger_is_no_heading() -> None:
    page = [*lines(50, 100, PROSE * 3), line(50, 300, "1. Tea and milk", 14), line(50, 320, "2. Bread and salt", 14)]
    page += [line(50, 340, "• a large one", 14)]
    kinds = [element.kind for element in structure(page, WIDTH, HEIGHT)[-3:]]
    assert kinds == [Kind.LIST_ITEM] * 3


@pytest.mark.parametrize(
    "text", ["2.1 Results of 2019", "3. Methods.", "REFERENCES", "Abstract", "FINDINGS OF THE COURT"]
)
def test_headings_of_other_kinds(text: str) -> None:
    page = [*lines(50, 100, PROSE), line(50, 165, text, 10, text[0].isdigit()), *lines(50, 185, OTHER)]
    assert texts(structure(page, WIDTH, HEIGHT), Kind.HEADING) == [text]


@pytest.mark.parametrize("text", ["28 July 2031", "x = 3 + y", "Ada Marsh, Jon Weir, and Tom Lane", "and went on as"])
def test_larger_text_that_heads_nothing(text: str) -> None:
    page = [*lines(50, 100, PROSE[:3]), line(50, 142, text, 11.4, False), *lines(50, 165, OTHER)]
    assert Kind.HEADING not in {element.kind for element in structure(page, WIDTH, HEIGHT)}


def test_shards_are_one_formula() -> None:
    shards = [line(200, 160, "a + b"), line(170, 167, "x ="), line(205, 174, "2"), line(400, 167, "(7)")]
    found = structure([*lines(50, 100, PROSE), *shards, *lines(50, 210, OTHER)], WIDTH, HEIGHT)
    assert [element.kind for element in found] == [Kind.TEXT, Kind.FORMULA, Kind.TEXT]
    assert sorted(found[1].text.split()) == sorted(["a", "+", "b", "x", "=", "2", "(7)"])


def test_elements_know_what_they_are_set_in() -> None:
    page = [line(50, 60, "The quiet river", 20, True), *lines(50, 100, PROSE)]
    title, text = structure(page, WIDTH, HEIGHT)
    assert (title.size, title.bold, text.size, text.bold, text.confidence) == (20, True, SIZE, False, 1.0)


def test_notes_with_bare_numbers_are_apart() -> None:
    notes = ["1 One was counted by hand and not with the machine", "2 Another was not counted at all"]
    page = [*lines(50, 100, PROSE), *lines(50, 180, notes)]
    assert texts(structure(page, WIDTH, HEIGHT))[1:] == notes


def test_a_line_in_capitals_heads_the_lines_below() -> None:
    page = [*lines(50, 100, PROSE), line(50, 165, "FENCE AND PAINT", bold=True), line(50, 178, OTHER[0], bold=True)]
    page += lines(50, 191, OTHER[1:])
    assert texts(structure(page, WIDTH, HEIGHT), Kind.HEADING) == ["FENCE AND PAINT"]


def test_glyphs_without_a_meaning_that_open_several_lines_are_bullets() -> None:
    page = [line(50, 100, PROSE[0]), line(50, 113, PROSE[3])]
    page += [line(50, 140 + 13 * i, f"\ufffd {text}") for i, text in enumerate(("Red hen", "Blue fox", "Green owl"))]
    found = structure(page, WIDTH, HEIGHT)
    assert [item.text for item in found if item.kind is Kind.LIST_ITEM] == ["Red hen", "Blue fox", "Green owl"]


def test_one_glyph_without_a_meaning_is_no_bullet() -> None:
    found = structure([line(50, 100, "\ufffd x is small"), line(50, 113, PROSE[3])], WIDTH, HEIGHT)
    assert not [item for item in found if item.kind is Kind.LIST_ITEM]


def exact(page: list[Line]) -> list[Line]:
    """Lines as a file gives them, whose fonts are known."""
    return [replace(line, mono=False) for line in page]


def test_a_line_of_another_size_in_a_file_is_apart_however_short() -> None:
    page = exact([line(50, 60, "Green line", 18, bold=True), line(50, 96, "Outward", 13, bold=True)])
    assert texts(structure([*page, *exact(lines(50, 130, PROSE + OTHER))], WIDTH, HEIGHT))[:2] == [
        "Green line",
        "Outward",
    ]


def test_lines_far_apart_that_share_no_margin_are_paragraphs() -> None:
    letter = ["Dear Ms Meyer,", "thank you for your order number 4711. It left us today.", "Kind regards"]
    assert texts(structure(lines(50, 60, letter, pitch=2.5), WIDTH, HEIGHT)) == letter
    double = [*PROSE[:-1], "nobody came.", *OTHER]
    found = structure(lines(50, 60, double, pitch=2.4), WIDTH, HEIGHT)
    assert texts(found) == [" ".join(double[: len(PROSE)]), " ".join(OTHER)]


def test_small_print_is_not_the_body_of_a_page_of_tables() -> None:
    rows = [
        line(x, 150 + i * 14, word) for i in range(20) for x, word in ((50, "Gannet"), (200, "1871"), (300, f"{i}.50"))
    ]
    page = [line(50, 60, "Anna Holt"), line(50, 74, "4 Quay Street"), *rows, *lines(50, 480, PROSE, size=7)]
    assert not texts(structure(page, WIDTH, HEIGHT), Kind.HEADING, Kind.TITLE)


def test_a_numbered_heading_above_a_list_that_begins_again_is_a_heading() -> None:
    page = [*lines(50, 100, PROSE), line(50, 170, "2. How it was done", 14, bold=True)]
    page += [line(50, 195, "1. The first step is this"), line(50, 208, "2. The second step is that")]
    page += [line(50, 235, "3. What came of it", 14, bold=True), *lines(50, 260, OTHER)]
    found = structure(page, WIDTH, HEIGHT)
    assert texts(found, Kind.HEADING) == ["2. How it was done", "3. What came of it"]
    assert len(texts(found, Kind.LIST_ITEM)) == 2


def test_the_name_of_a_caption_set_apart_from_its_words_is_one_with_them() -> None:
    label = line(50, 100, "Table 12.", bold=True)
    words = [
        line(label.box.right + 1.4 * SIZE, 100, "Lamps of the harbour by the year in which"),
        *lines(50, 113, PROSE),
    ]
    found = paragraphs([label, *words], SIZE)
    assert [part.lines[0].text[:20] for part in found] == ["Table 12. Lamps of t"]
