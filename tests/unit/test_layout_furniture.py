"""Running heads and feet of one page."""

from __future__ import annotations

import pytest

from tests.unit.layout_support import HEIGHT, OTHER, PROSE, line, lines
from warmwire.layout.order.folios import Sign, is_content, sign_of
from warmwire.layout.order.furniture import furniture
from warmwire.layout.page import Box, Line

BODY = lines(50, 100, PROSE * 6)


def running(*edge: Line, body: list[Line] = BODY, rules: tuple[Box, ...] = ()) -> list[str]:
    """The texts that are taken for running heads and feet of a page of prose with some more lines."""
    found = furniture([*body, *edge], HEIGHT, 10.0, rules)
    assert sorted(map(id, [*found.head, *found.foot, *found.text])) == sorted(map(id, [*body, *edge]))
    return [one.text for one in (*found.head, *found.foot)]


@pytest.mark.parametrize(
    "text",
    ["12", "xiv", "Page 3 of 7", "- 12 -", "[3]", "3/12", "Seite 4", "p. 9", "第3页", "A-12", "– 3 –", "| 7", "47699"],
)
def test_page_numbers(text: str) -> None:
    assert sign_of(text) is Sign.FOLIO
    assert running(line(300, 760, text)) == [text]


@pytest.mark.parametrize("text", ["civic", "did", "Total", "123456", "4 May", "3.5", "Figure 3", "1. Scope"])
def test_words_and_figures_that_are_no_page_numbers(text: str) -> None:
    assert sign_of(text) is not Sign.FOLIO


def test_a_books_page_and_title_in_capitals_are_more_than_capitals() -> None:
    assert sign_of("214 THE RIVER PILOT") is sign_of("THE RIVER PILOT 214") is Sign.NAMED
    assert sign_of("4 RESULTS") is sign_of("214 rivers and more") is Sign.WEAK


def test_the_volume_of_a_journal_names_its_running_head() -> None:
    head = "The River Register / Vol. 85, No. 152 / Thursday, August 6, 2020 / Rules and notices 47699"
    assert running(line(50, 40, head)) == [head]
    assert sign_of("the boats in vol. two of the book") is Sign.NONE


def test_several_lines_at_one_edge_are_running_ones() -> None:
    head = [line(50, 20, "The Journal of Rivers", 8), line(50, 30, "Downloaded from www.example.org on 3 May 2031", 8)]
    foot = [line(50, 740, "Harbour Office"), line(500, 752, "42"), line(50, 765, "© 2031 The Keeper", 8)]
    assert running(*head) == [one.text for one in head]
    assert running(*foot) == [one.text for one in foot]


def test_blocks_are_taken_from_the_outside_in() -> None:
    foot = [line(250, 730, "112 THE QUIET RIVER", 7), line(200, 770, "https://example.org/river", 7)]
    assert running(*foot, body=lines(50, 100, PROSE * 12)) == [one.text for one in foot]


def test_a_number_far_below_a_short_text_is_its_page_number() -> None:
    middle = 0.5 * (BODY[0].box.left + BODY[0].box.right)
    assert running(line(middle - 5, 640, "12")) == ["12"]
    assert running(line(middle - 5, 430, "12")) == ["12"]  # as TeX sets it
    assert running(line(50, 640, "12")) == []
    assert running(line(middle - 5, 425, "12")) == []


@pytest.mark.parametrize(
    "text",
    [
        "12 May 2031",  # a date line
        "Berlin, 12. Mai 2031",
        "Total: 312.50",
        "Our reference: B/629-25",
        "Subject:",
        "Tel. 0500 52540, office@example.org",
        "the owner explained the panel and collected the timbers near",  # from the page before
    ],
)
def test_what_opens_a_letter_or_a_page_is_no_running_head(text: str) -> None:
    assert running(line(50, 60, text)) == []


def test_titles_letterheads_and_signatures_stay() -> None:
    assert running(line(50, 30, "Annual report", 18), line(50, 54, "Harbour Office, 12 Quay Street", 9)) == []
    assert running(line(50, 50, "Marsh & Dunmore"), line(50, 62, "64 Quarry Close"), line(50, 74, "Eastlow")) == []
    assert running(line(50, 670, "Peter Lindqvist, Treasurer"), body=lines(50, 100, PROSE * 10)) == []


def test_the_last_row_of_a_table_and_the_last_line_of_a_page_stay() -> None:
    rows = [line(x, 100 + 14 * y, f"{y}{x}") for y in range(44) for x in (50, 200, 350)]
    assert running(body=rows) == []
    assert running(body=lines(50, 40, (PROSE + OTHER) * 7)) == []


def test_footnotes_are_no_running_feet() -> None:
    body, rule = lines(50, 100, PROSE * 11), (Box(50, 712, 150, 712.5),)
    notes = [line(50, 716, "1 2031 estimate", 8), line(50, 727, "2 2030 estimate", 8)]
    assert running(*notes, body=body, rules=rule) == []
    assert running(line(50, 727, "1 http://www.example.org", 8), body=body, rules=rule) == []
    assert running(line(50, 727, "* A note", 8), body=body, rules=rule) == []
    assert running(line(50, 727, "112 The quiet river", 8), body=body, rules=rule) == ["112 The quiet river"]


def test_figures_of_an_axis_are_no_page_numbers() -> None:
    assert running(*(line(100 + 80 * n, 780, f"{2 * n}") for n in range(6)), body=lines(50, 100, PROSE * 12)) == []


def test_the_last_of_a_few_things_far_apart_stays() -> None:
    apart = [line(50, y, "One of a few things") for y in (100, 250, 400, 560)]
    assert running(line(50, 730, "Print"), body=apart) == []
    assert running(line(50, 730, "Harbour office"), body=lines(50, 100, PROSE * 11)) == ["Harbour office"]


def test_a_rule_or_a_model_helps_where_white_is_little() -> None:
    head = line(50, 40, "The quiet river")
    body = lines(50, 62, PROSE * 6)
    assert running(head, body=body) == []
    assert running(head, body=body, rules=(Box(50, 57, 500, 57.5),)) == ["The quiet river"]


def test_a_page_is_never_all_furniture() -> None:
    assert running(line(50, 20, "One line"), line(50, 760, "Another line"), body=[]) == []
    assert running(line(300, 760, "12"), body=[line(50, 300, "The only line of this page")]) == ["12"]


def test_labels_dates_and_captions_are_content() -> None:
    assert is_content("Invoice no: 77")
    assert is_content("3/5/2031")
    assert is_content("Figure 3: The quay")
    assert not is_content("Chapter 4: The quay")
    assert not is_content("Form 81-B  Page 1 of 1")


def test_around_a_page_that_is_all_table() -> None:
    head, foot = line(50, 20, "Inventory 2034", 8), line(300, 770, "Page 2 of 3", 8)
    found = furniture([head, foot], HEIGHT, 8.0, tables=[Box(50, 60, 500, 700)])
    assert (found.head, found.foot) == ([head], [foot])
