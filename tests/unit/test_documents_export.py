"""A reading as Markdown, HTML, JSON, DocTags and text."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage
from warmwire.layout.doctags.writer import parse
from warmwire.layout.page import Box, Cell, Element, Kind, Table

docling = pytest.importorskip("docling_core.types.doc")


def reading(*elements: Element) -> Reading:
    return Reading("x.pdf", [ReadPage(PageRecord(1), 100, 100, list(elements))])


def markdown(*elements: Element) -> str:
    return export(reading(*elements), Format.MD)


PIPES = Table(2, 2, [Cell("a|b", 0, 0, header=True), Cell("<c>", 0, 1, header=True), Cell("d", 1, 0), Cell("e", 1, 1)])
SPANS = Table(2, 2, [Cell("a & b", 0, 0, 1, 2, header=True), Cell("d", 1, 0), Cell("e", 1, 1)])
EVERYTHING = (
    Element(Kind.PAGE_HEADER, "running"),
    Element(Kind.TITLE, "title"),
    Element(Kind.HEADING, "heading", level=2),
    Element(Kind.TEXT, "paragraph"),
    Element(Kind.LIST_ITEM, "first", ordered=True, marker="3."),
    Element(Kind.LIST_ITEM, "inner", level=2, marker="•"),
    Element(Kind.LIST_ITEM, "second", ordered=True, marker="4."),
    Element(Kind.CAPTION, "caption"),
    Element(Kind.TABLE, table=SPANS),
    Element(Kind.PICTURE, "inside"),
    Element(Kind.FORMULA, "E = mc2"),
    Element(Kind.CODE, "x = 1"),
    Element(Kind.CHECKED, "done"),
    Element(Kind.UNCHECKED, "open"),
    Element(Kind.FOOTNOTE, "note"),
    Element(Kind.PAGE_FOOTER, "foot"),
)


def test_markdown_of_everything() -> None:
    assert markdown(*EVERYTHING) == (
        "# title\n\n### heading\n\nparagraph\n\n"
        "3. first\n    - inner\n4. second\n\n"
        "caption\n\n"
        '<table>\n<tr><th colspan="2">a &amp; b</th></tr>\n<tr><td>d</td><td>e</td></tr>\n</table>\n\n'
        "<!-- image -->\n\ninside\n\nE = mc2\n\n```\nx = 1\n```\n\n- [x] done\n- [ ] open\n\nnote\n"
    )


@pytest.mark.parametrize("form", [Format.MD, Format.HTML, Format.TEXT, Format.JSON, Format.DOCTAGS])
def test_every_word_is_there_exactly_once(form: Format) -> None:
    said = ["title", "heading", "paragraph", "first", "inner", "second", "caption", "inside", "mc2", "note"]
    text = export(reading(*EVERYTHING), form)
    if form is Format.JSON:
        text = " ".join(item["text"] for item in json.loads(text)["texts"])
    else:
        text = text.partition("<body>")[2] or text
    count = Counter(text.replace("<", " <").replace(">", "> ").split())
    assert {word: count[word] for word in said} == dict.fromkeys(said, 1)


def test_pipes_are_escaped_and_spans_are_html() -> None:
    assert markdown(Element(Kind.TABLE, table=PIPES)) == "| a\\|b | \\<c> |\n| --- | --- |\n| d | e |\n"
    assert 'colspan="2"' in markdown(Element(Kind.TABLE, table=SPANS))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("R&D, a_b_c and 2 < 3", "R&D, a_b_c and 2 < 3"),
        ("*not* _bold_ `code`", "\\*not\\* \\_bold\\_ \\`code\\`"),
        ("1. no list", "1\\. no list"),
        ("# no heading", "\\# no heading"),
        ("- no item", "\\- no item"),
        ("-5 degrees", "-5 degrees"),
        ("see <b> and &amp;", "see \\<b> and \\&amp;"),
        ("[1](2) [3]", "[1\\](2) [3]"),
        ("C:\\dir\\*", "C:\\dir\\\\\\*"),
        ("nul\x00 and bell\x07", "nul and bell"),
    ],
)
def test_text_stays_itself_in_markdown(text: str, shown: str) -> None:
    assert markdown(Element(Kind.TEXT, text)) == shown + "\n"


def test_printed_numbers_are_kept() -> None:
    items = [Element(Kind.LIST_ITEM, t, ordered=True, marker=m) for t, m in (("a", "7."), ("b", "8."), ("c", "b)"))]
    assert markdown(*items) == "7. a\n8. b\n- b) c\n"
    unmarked = [Element(Kind.LIST_ITEM, t, ordered=True) for t in "ab"]
    assert markdown(*unmarked) == "1. a\n2. b\n"


def test_a_list_goes_on_round_a_footnote_and_lists_stand_in_items() -> None:
    assert (
        markdown(
            Element(Kind.LIST_ITEM, "a", ordered=True, marker="1."),
            Element(Kind.LIST_ITEM, "inner\nline", level=2, marker="(i)"),
            Element(Kind.LIST_ITEM, "deep", level=3, marker="–"),
            Element(Kind.FOOTNOTE, "note"),
            Element(Kind.LIST_ITEM, "b", ordered=True, marker="2."),
            Element(Kind.TEXT, "* end\nof it"),
            Element(Kind.LIST_ITEM, "c", ordered=True, marker="3."),
        )
        == "1. a\n    - (i) inner  \nline\n        - deep\n2. b\n\nnote\n\n\\* end  \nof it\n\n3. c\n"
    )


def test_fences_are_longer_than_those_of_the_code() -> None:
    assert markdown(Element(Kind.CODE, "a = `b`\n```")) == "````\na = `b`\n```\n````\n"


def test_text_has_no_markup_but_marks_and_pipes() -> None:
    assert export(reading(*EVERYTHING), Format.TEXT) == (
        "title\n\nheading\n\nparagraph\n\n3. first\n    - inner\n4. second\n\ncaption\n\na & b | \nd | e\n\n"
        "inside\n\nE = mc2\n\nx = 1\n\n- [x] done\n- [ ] open\n\nnote\n"
    )


def test_a_caption_stays_on_its_side_of_the_table() -> None:
    table = Element(Kind.TABLE, box=Box(0, 20, 50, 40), table=PIPES)
    below = markdown(table, Element(Kind.CAPTION, "Table 1", Box(0, 45, 50, 50)))
    above = markdown(Element(Kind.CAPTION, "Table 1", Box(0, 10, 50, 15)), table)
    assert below.endswith("Table 1\n")
    assert above.startswith("Table 1\n")


def test_a_caption_goes_to_the_nearer_of_two() -> None:
    document = json.loads(
        export(
            reading(
                Element(Kind.TABLE, box=Box(0, 0, 50, 10), table=PIPES),
                Element(Kind.CAPTION, "below", Box(0, 12, 50, 14)),
                Element(Kind.PICTURE, box=Box(0, 60, 50, 90)),
            ),
            Format.JSON,
        )
    )
    assert document["tables"][0]["captions"]
    assert not document["pictures"][0]["captions"]


def test_json_is_a_docling_document_with_the_records_beside_it() -> None:
    pages = [ReadPage(PageRecord(n), 100, 200, [Element(Kind.TEXT, f"page {n}", Box(1, 2, 3, 4))]) for n in (2, 5)]
    data = json.loads(export(Reading("dir/x.pdf", pages), Format.JSON))
    assert [record["page"] for record in data["warmwire"]["pages"]] == [2, 5]
    doc = docling.DoclingDocument.model_validate(data)
    assert sorted(doc.pages) == [2, 5]
    assert (doc.texts[1].prov[0].page_no, doc.texts[1].prov[0].bbox.t, doc.name) == (5, 2, "x")


def test_doctags_are_read_back() -> None:
    written = export(reading(*EVERYTHING), Format.DOCTAGS)
    kinds = [element.kind for element in parse(written)]
    assert kinds == [element.kind for element in EVERYTHING]


def test_nothing_to_say_is_nothing() -> None:
    assert markdown() == ""
    assert export(Reading("x.pdf", []), Format.TEXT) == ""
