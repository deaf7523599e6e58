"""DocTags as models and docling-core write it, and as neither should."""

from __future__ import annotations

import pytest

from warmwire.layout.doctags.writer import parse, write_element, write_elements, write_page
from warmwire.layout.page import Box, Cell, Element, Kind, Table


def texts(source: str) -> list[tuple[Kind, str]]:
    return [(element.kind, element.text) for element in parse(source)]


def test_writes_a_page() -> None:
    page = [
        Element(Kind.TITLE, "Report", Box(60, 40, 440, 60)),
        Element(Kind.HEADING, "Part", level=2),
        Element(Kind.LIST_ITEM, "first", ordered=True, marker="1."),
        Element(Kind.LIST_ITEM, "inner", level=2, marker="•"),
        Element(Kind.LIST_ITEM, "second", ordered=True, marker="2."),
        Element(Kind.TEXT, "End."),
    ]
    assert write_page(page, 1000, 1000) == (
        "<doctag>\n"
        "<title><loc_30><loc_20><loc_220><loc_30>Report</title>\n"
        "<section_header_level_2>Part</section_header_level_2>\n"
        "<ordered_list><list_item>1. first</list_item>\n"
        "<list_item><unordered_list><list_item>inner</list_item>\n"
        "</unordered_list></list_item>\n"
        "<list_item>2. second</list_item>\n"
        "</ordered_list>\n"
        "<text>End.</text>\n"
        "</doctag>"
    )


@pytest.mark.parametrize("marker", ["1.", "1.)", "(1)", "[1]", "(a)", "IV.", "2.1", "③"])
def test_printed_numbers_come_back(marker: str) -> None:
    item = Element(Kind.LIST_ITEM, "Foo", ordered=True, marker=marker)
    assert [(found.marker, found.text) for found in parse(write_page([item], 1, 1))] == [(marker, "Foo")]


def test_neighbouring_lists_of_two_kinds_stay_apart() -> None:
    items = [Element(Kind.LIST_ITEM, "a"), Element(Kind.LIST_ITEM, "b", ordered=True, marker="1.")]
    assert write_elements(items, 1, 1).count("</") == 4
    assert parse(write_elements(items, 1, 1)) == items


def test_writes_spans_as_otsl() -> None:
    table = Table(3, 3, [Cell("top", 0, 0, 1, 2, header=True), Cell("side", 0, 2, 3, 1), Cell("block", 1, 0, 2, 2)])
    written = write_element(Element(Kind.TABLE, table=table), 1, 1)
    assert written == (
        "<otsl><ched>top<lcel><fcel>side<nl>\n<fcel>block<lcel><ucel><nl>\n<ucel><xcel><ucel><nl>\n</otsl>\n"
    )
    assert parse(written)[0].table == table


def test_places_are_scaled_to_the_page_and_kept_inside_it() -> None:
    (element,) = parse("<text><loc_500><loc_999><loc_0><loc_250>x</text>", 200, 100)
    assert element.box == Box(0, 50, 200, 100)
    assert parse("<text><loc_1><loc_2><loc_3>x</text>")[0].box is None


def test_unknown_tags_are_text() -> None:
    assert texts("<text>if a <b> c, then x <y> & z</text></text>") == [(Kind.TEXT, "if a <b> c, then x <y> & z")]
    assert texts("use <logo> and <_Python_> and <key_1>") == [(Kind.TEXT, "use <logo> and <_Python_> and <key_1>")]


def test_a_tag_in_the_text_of_a_page_stays_text() -> None:
    (element,) = parse(write_element(Element(Kind.TEXT, "close it with </text> or <nl>"), 1, 1))
    assert element.text == "close it with < /text> or < nl>"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<text>one<title>two</title>three", [(Kind.TEXT, "one"), (Kind.TITLE, "two"), (Kind.TEXT, "three")]),
        ("<text>one</title>two", [(Kind.TEXT, "one two")]),
        ("plain words\n\nand more", [(Kind.TEXT, "plain words"), (Kind.TEXT, "and more")]),
        ("<loc_1><loc_1><loc_9><loc_9>one<loc_1><loc_10><loc_9><loc_20>two", [(Kind.TEXT, "one"), (Kind.TEXT, "two")]),
        ("<text>cut<loc_4", [(Kind.TEXT, "cut")]),
        ("<text>cut</te", [(Kind.TEXT, "cut")]),
        ("a <text", [(Kind.TEXT, "a <text")]),
        ("<text>a < b", [(Kind.TEXT, "a < b")]),
        ("<list_item><text>in</text></list_item>", [(Kind.LIST_ITEM, "in")]),
        ("<picture></picture><text> </text>", [(Kind.PICTURE, "")]),
        ("<picture><loc_1><loc_1><loc_2><loc_2><logo>ACME</picture>", [(Kind.PICTURE, "ACME")]),
        ("<text>a</text><|end_of_text|>", [(Kind.TEXT, "a")]),
        ("<key_value_region><key_0>Name<link_1></key_0><value_1>Ann</value_1></key_value_region>",
         [(Kind.TEXT, "Name"), (Kind.TEXT, "Ann")]),
        ("<code><_Python_>if x:\n    y</code>", [(Kind.CODE, "if x:\n    y")]),
        ("<inline><text>Run</text>\n<code><_unknown_>git <p></code>\n<text>now.</text>\n</inline>\n<text>End.</text>",
         [(Kind.TEXT, "Run git <p> now."), (Kind.TEXT, "End.")]),
        ("<list_item><inline><text>a</text><formula>b</formula></inline> c</list_item><text>d</text>",
         [(Kind.LIST_ITEM, "a b c"), (Kind.TEXT, "d")]),
        ("<inline><text>a</text><title>b</title>", [(Kind.TEXT, "a"), (Kind.TITLE, "b")]),
        ("<inline><text>a</text><text><loc_1><loc_1><loc_2><loc_2>b", [(Kind.TEXT, "a"), (Kind.TEXT, "b")]),
        ("<text>the tags <table> , <tr> and <td></text>", [(Kind.TEXT, "the tags <table> , <tr> and <td>")]),
        ("<checkbox_selected>yes</checkbox_selected>", [(Kind.CHECKED, "yes")]),
    ],
)  # fmt: skip
def test_tolerates(source: str, expected: list[tuple[Kind, str]]) -> None:
    assert texts(source) == expected


def test_a_caption_inside_a_table_comes_before_it_and_leaves_its_cells_alone() -> None:
    caption, table = parse("<otsl><fcel>a<caption>Table 1</caption>b<fcel>c<nl></otsl>")
    assert (caption.kind, caption.text) == (Kind.CAPTION, "Table 1")
    assert table.table == Table(1, 2, [Cell("a b", 0, 0), Cell("c", 0, 1)])


def test_a_table_cut_off_keeps_what_was_read() -> None:
    (element,) = parse("<otsl><loc_1><loc_1><loc_9><loc_9><ched>Item<ched>Price<nl><fcel>Tea<fc")
    assert element.table == Table(
        2, 2, [Cell("Item", 0, 0, header=True), Cell("Price", 0, 1, header=True), Cell("Tea", 1, 0)]
    )


def test_places_that_point_nowhere_become_cells() -> None:
    (element,) = parse("<otsl><lcel><ucel>odd<nl><xcel><fcel>x<nl>tail</otsl>")
    assert element.table is not None
    assert [cell.text for cell in element.table.cells] == ["", "odd", "", "x", "tail"]


def test_cells_without_a_table_make_one() -> None:
    (element,) = parse("<fcel>a<fcel>b<nl><fcel>c<ecel><nl>")
    assert element.table is not None
    assert (element.table.rows, element.table.columns) == (2, 2)


def test_a_grid_too_large_to_hold_becomes_its_text() -> None:
    source = "<otsl>" + "<fcel>" * 5000 + "wide<nl>" + "<fcel>x<nl>" * 5000
    elements = parse(source)
    assert all(element.kind is Kind.TEXT for element in elements)
    assert len(elements) == 5001


@pytest.mark.parametrize("marker", ["1.", "12)", "(a)", "iv.", "2.3", "③"])
def test_a_printed_number_is_told_from_its_text(marker: str) -> None:
    (item,) = parse(f"<ordered_list><list_item>{marker} words</list_item></ordered_list>")
    assert (item.marker, item.text, item.ordered) == (marker, "words", True)


def test_a_year_or_a_word_is_no_number() -> None:
    (item,) = parse("<ordered_list><list_item>20000 people came.</list_item></ordered_list>")
    assert (item.marker, item.text) == ("", "20000 people came.")


def test_nested_lists_as_docling_core_and_as_html_write_them() -> None:
    sub = "<ordered_list><list_item>1. b</list_item></ordered_list>"
    inside = f"<unordered_list><list_item>a{sub}</list_item><list_item>c"
    after = f"<unordered_list><list_item>a</list_item><list_item>{sub}</list_item><list_item>c"
    assert [(i.text, i.level, i.ordered) for i in parse(inside)] == [("a", 1, False), ("b", 2, True), ("c", 1, False)]
    assert parse(inside) == parse(after)


@pytest.mark.parametrize(
    "source",
    [
        "<list_item><text>" * 50_000,
        "<picture>" + "<logo>" * 50_000,
        "<ordered_list>" * 50_000 + "</unordered_list>" * 50_000,
        "<picture><caption>" * 50_000,
        "<otsl>" + "<fcel><lcel><lcel><nl><ucel><xcel><xcel><nl>" * 20_000,
        "<" * 500_000,
        "<code>" + "<_C_>" * 50_000,
    ],
)
@pytest.mark.timeout(20)
def test_hostile_answers_take_linear_time(source: str) -> None:
    parse(source)


def test_docling_core_reads_what_we_write() -> None:
    docling = pytest.importorskip("docling_core.types.doc.document")
    page = [
        Element(Kind.TITLE, "Report", Box(10, 10, 90, 20)),
        Element(Kind.LIST_ITEM, "first", ordered=True, marker="1."),
        Element(Kind.TABLE, table=Table(1, 2, [Cell("a", 0, 0, header=True), Cell("b", 0, 1, header=True)])),
        Element(Kind.TEXT, "End."),
    ]
    source = docling.DocTagsDocument.from_doctags_and_image_pairs([write_page(page, 100, 100)], None)
    markdown = docling.DoclingDocument.load_from_doctags(source).export_to_markdown()
    assert [word for word in ("# Report", "first", "| a", "End.") if word not in markdown] == []


def test_reads_what_docling_core_writes() -> None:
    docling = pytest.importorskip("docling_core.types.doc")
    doc = docling.DoclingDocument(name="x")
    doc.add_title("Report")
    group = doc.add_list_group()
    doc.add_list_item("first", enumerated=True, parent=group)
    doc.add_heading("Part", level=2)
    found = [(e.kind, e.text) for e in parse(doc.export_to_doctags())]
    assert found == [(Kind.TITLE, "Report"), (Kind.LIST_ITEM, "first"), (Kind.HEADING, "Part")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<text>Tea</te", ["Tea"]),
        ("<text>Tea</", ["Tea</"]),
        ("<text>Tea<loc_1", ["Tea"]),
        ("<text>a<b", ["a<b"]),
        ("<text>Tea<" + "t" * 80, ["Tea<" + "t" * 80]),
        ("a<text", ["a<text"]),
    ],
)
def test_a_tag_cut_off_by_the_end_is_dropped_where_there_were_tags(text: str, found: list[str]) -> None:
    assert [element.text for element in parse(text)] == found
