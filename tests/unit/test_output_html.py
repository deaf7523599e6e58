"""HTML from the flow, and JSON in pieces: the same document whether built whole or bit by bit."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from warmwire.documents.output.document import build_document
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage
from warmwire.layout.page import Box, Cell, Element, Kind, Table


def read(*elements: Element) -> Reading:
    return Reading("in <b>.pdf", [ReadPage(PageRecord(1), 612.0, 792.0, list(elements))])


def box(top: float) -> Box:
    return Box(50, top, 500, top + 20)


CELLS = [Cell("Port", 0, 0, header=True), Cell("Ships", 0, 1, header=True, links=[("Ships", "https://x.org/?a&b")])]
BODY = [Cell("<Hull>", 1, 0, colspan=2)]
FULL = read(
    Element(Kind.PAGE_HEADER, "Running head", box(0)),
    Element(Kind.TITLE, "Of <ships> & men", box(20)),
    Element(Kind.HEADING, "Lamps", box(40), level=2),
    Element(Kind.TEXT, "See the book\nof lamps.", box(60), links=[("book", "https://x.org/b")]),
    Element(Kind.LIST_ITEM, "oil", box(80), marker="•"),
    Element(Kind.LIST_ITEM, "first", box(100), level=2, ordered=True, marker="7."),
    Element(Kind.LIST_ITEM, "second", box(120), level=2, ordered=True, marker="(i')"),
    Element(Kind.CHECKED, "paid", box(140)),
    Element(Kind.CODE, "if a < b:\n    c", box(160)),
    Element(Kind.FORMULA, "x_{1} = \\frac{1}{2}", box(180)),
    Element(Kind.FORMULA, "\\frac{", box(190)),
    Element(Kind.TABLE, "", box(200), table=Table(2, 2, [*CELLS, *BODY])),
    Element(Kind.CAPTION, "Table 1. Ships", box(222)),
    Element(Kind.PICTURE, "SS Ely", box(300), alt='a "ship"'),
    Element(Kind.FOOTNOTE, "1 A note", box(700)),
)


@pytest.mark.parametrize(
    "part",
    [
        "<title>in &lt;b&gt;</title>",
        "<h1>Of &lt;ships&gt; &amp; men</h1>",
        "<h3>Lamps</h3>",
        '<p>See the <a href="https://x.org/b">book</a><br>of lamps.</p>',
        '<ul>\n<li>oil<ol>\n<li value="7">first</li>\n'
        "<li style=\"list-style-type: '(i\\&#x27;) '\">second</li>\n</ol></li>\n</ul>",
        '<p><input type="checkbox" disabled checked> paid</p>',
        "<pre><code>if a &lt; b:\n    c</code></pre>",
        "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>",
        "<pre><code>\\frac{</code></pre>",
        '<caption class="below">Table 1. Ships</caption>',
        '<tr><th>Port</th><th><a href="https://x.org/?a&amp;b">Ships</a></th></tr>',
        '<tr><td colspan="2">&lt;Hull&gt;</td></tr>',
        '<figure role="img" aria-label="a &quot;ship&quot;"><p>SS Ely</p></figure>',
        '<p class="note">1 A note</p>',
    ],
)
def test_html_has_what_the_page_has(part: str) -> None:
    assert part in export(FULL, Format.HTML)


def test_html_is_well_formed_and_without_running_heads() -> None:
    page = export(FULL, Format.HTML)
    assert "Running head" not in page
    body = page[page.index("<body>") : page.index("</html>")]
    for void in ('<input type="checkbox" disabled checked>', "<br>"):
        body = body.replace(void, "")
    ElementTree.fromstring(body)
    assert export(read(), Format.HTML) == ""


@pytest.mark.parametrize("reading", [FULL, read(), Reading("none.pdf")])
def test_json_in_pieces_is_the_document_built_whole(reading: Reading) -> None:
    document = build_document(reading).export_to_dict()
    document["warmwire"] = {"source": reading.name, "pages": [page.record.as_dict() for page in reading.pages]}
    assert export(reading, Format.JSON) == json.dumps(document, ensure_ascii=False, indent=2) + "\n"
