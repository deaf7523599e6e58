"""The structure tree of a searchable PDF, read back by pdfium: what it names, and where there is none."""

from __future__ import annotations

import io
from collections import Counter
from itertools import pairwise
from typing import Any

import pikepdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.documents.writer import PICTURE, Pdf, prose
from tests.pdf_support import outline
from tests.unit.test_output_pdf import added, opener
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.output.shares import shares
from warmwire.documents.reading.hidden import Hidden
from warmwire.documents.reading.reader import DocumentReader, ReadOptions, settled
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage, Route
from warmwire.layout.page import Box, Cell, Element, Kind, Table
from warmwire.layout.runs import Run

SIZE = (612.0, 792.0)


def run(text: str, left: float, top: float) -> Run:
    """A line of letters that are five points wide."""
    ends = [0]
    for word in text.split():
        ends.append(ends[-1] + len(word) + 1)
    spans = tuple((start / len(text), (end - 1) / len(text)) for start, end in pairwise(ends))
    return Run(text, (left, top), (5.0 * len(text), 0.0), (0.0, 10.0), spans)


def page(number: int, *elements: Element, runs: list[Run], route: Route = Route.MODEL) -> ReadPage:
    return ReadPage(PageRecord(number, route), *SIZE, list(elements), runs)


def line(kind: Kind, text: str, top: float, **more: Any) -> Element:
    return Element(kind, text, Box(50, top - 1, 560, top + 11), **more)


def scans(count: int) -> bytes:
    pdf = Pdf()
    for _ in range(count):
        pdf.page(PICTURE)
    return pdf.bytes()


CELLS = [
    Cell("Port", 0, 0, header=True), Cell("Ships in", 0, 1, colspan=2, header=True),
    Cell("Hull", 1, 0), Cell("12", 1, 1), Cell("34", 1, 2),
    Cell("Old Ely", 2, 0), Cell("34", 2, 1),
]  # fmt: skip


def full_page() -> ReadPage:
    return page(
        1,
        line(Kind.PAGE_HEADER, "Harbour news", 20),
        line(Kind.TITLE, "Of ships", 50),
        line(Kind.HEADING, "Lamps", 80, level=1),
        Element(Kind.TEXT, "Every lamp is counted twice.", Box(50, 99, 200, 131)),
        line(Kind.LIST_ITEM, "oil", 150),
        line(Kind.LIST_ITEM, "wicks", 170, level=2, ordered=True, marker="1."),
        line(Kind.CAPTION, "Table 1. Ships", 200),
        Element(Kind.TABLE, "", Box(50, 215, 400, 270), table=Table(3, 3, CELLS)),
        Element(Kind.PICTURE, "", Box(50, 300, 200, 400)),
        line(Kind.CAPTION, "Figure 1. A lamp", 410),
        Element(Kind.FORMULA, "E = mc", None),
        runs=[
            run("Harbour news", 50, 20),
            run("Of ships", 50, 50),
            run("Lamps", 50, 80),
            run("Every lamp is coun-", 50, 100),
            run("ted twice.", 50, 120),
            run("• oil", 50, 150),
            run("1. wicks", 70, 170),
            run("Table 1. Ships", 50, 200),
            run("Port Ships in", 50, 216),
            run("Hull 12 34", 50, 236),
            run("Old Ely 34", 50, 256),
            run("Figure 1. A lamp", 50, 410),
        ],
    )


def test_the_tree_says_what_the_markdown_says() -> None:
    assert outline(added(scans(1), Reading("x", [full_page()]))) == [
        "Document",
        ".H1 Of ships",
        ".H2 Lamps",
        ".P Every lamp is coun-ted twice.",
        ".L",
        "..LI",
        "...Lbl •",
        "...LBody oil",
        "....L",
        ".....LI",
        "......Lbl 1.",
        "......LBody wicks",
        ".Table",
        "..Caption Table 1. Ships",
        "..TR",
        "...TH Port",
        "...TH 1x2 Ships in",
        "..TR",
        "...TD Hull",
        "...TD 12",
        "...TD 34",
        "..TR",
        "...TD Old Ely",
        "...TD 34",
        "...empty",
        ".Figure [Figure 1. A lamp]",
        ".Caption Figure 1. A lamp",
        ".Formula [E = mc]",
    ]


def test_the_file_says_that_it_is_tagged_and_what_is_no_text() -> None:
    with pikepdf.open(io.BytesIO(added(scans(1), Reading("x", [full_page()])))) as pdf:
        assert pdf.Root.MarkInfo.Marked is True
        elements = {str(o.S): o for o in pdf.objects if isinstance(o, pikepdf.Dictionary) and "/P" in o}
        assert str(elements["/P"].ActualText) == "Every lamp is counted twice."
        assert [round(float(side)) for side in elements["/Figure"].A.BBox] == [50, 392, 200, 492]
        assert elements["/TH"].A.Scope == "/Column"
        assert "/ActualText" not in elements["/H1"]
        root = pdf.Root.StructTreeRoot
        assert all(element.Pg == pdf.pages[0].obj for element in root.ParentTree.Nums[1])
        streams = [stream.read_bytes().split() for stream in pdf.pages[0].obj.Contents]
    assert streams[0][-2:] == [b"/Artifact", b"BMC"]
    assert streams[0].count(b"/Artifact") == 2  # the running head, and what the page drew before
    assert streams[-1] == [b"EMC"]


def test_a_paragraph_over_two_pages_is_one() -> None:
    words = "The keeper of the harbour office wrote their", "names into the book."
    pages = [
        page(number, line(Kind.TEXT, text, 50), runs=[run(text, 50, 50)]) for number, text in enumerate(words, start=1)
    ]
    data = added(scans(2), Reading("x", pages))
    assert [outline(data, number)[:2] for number in (0, 1)] == [["Document", f".P {text}"] for text in words]
    with pikepdf.open(io.BytesIO(data)) as pdf:
        (paragraph,) = [o for o in pdf.objects if isinstance(o, pikepdf.Dictionary) and o.get("/S") == "/P"]
        assert "/ActualText" not in paragraph
        assert paragraph.K[1].Pg == pdf.pages[1].obj


def test_a_page_with_text_of_its_own_would_be_silent_beside_a_tree() -> None:
    pdf = Pdf()
    pdf.page(PICTURE)
    pdf.page(prose(72, 700, 12))
    scanned = page(1, line(Kind.TEXT, "Harbour", 50), runs=[run("Harbour", 50, 50)])
    digital = page(2, line(Kind.TEXT, "The keeper", 50), runs=[], route=Route.FILE)
    empty = page(2, runs=[], route=Route.FILE)
    for pages, tagged in (([scanned, digital], False), ([scanned], False), ([scanned, empty], True)):
        with pikepdf.open(io.BytesIO(added(pdf.bytes(), Reading("x", pages)))) as made:
            assert ("/StructTreeRoot" in made.Root) is tagged
            assert (b"BDC" in made.pages[0].Contents[0].read_bytes()) is tagged


def test_a_tree_that_is_there_stays() -> None:
    with pikepdf.open(io.BytesIO(scans(1))) as pdf:
        pdf.Root.StructTreeRoot = pdf.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.StructTreeRoot, Mine=7))
        stream = io.BytesIO()
        pdf.save(stream)
    with pikepdf.open(io.BytesIO(added(stream.getvalue(), Reading("x", [full_page()])))) as made:
        assert made.Root.StructTreeRoot.Mine == 7
        assert "/MarkInfo" not in made.Root


WORDS = st.lists(st.sampled_from(["a", "12", "•", "the", "book-", "Ely"]), min_size=1, max_size=4).map(" ".join)
PLACES = st.tuples(st.integers(0, 5), st.integers(0, 20))


@given(st.lists(st.tuples(WORDS, PLACES), max_size=12), st.lists(st.tuples(WORDS, PLACES, st.booleans()), max_size=5))
def test_every_word_is_shown_once_whatever_the_elements_are(
    lines: list[tuple[str, tuple[int, int]]], texts: list[tuple[str, tuple[int, int], bool]]
) -> None:
    elements = [
        Element(
            Kind.TABLE if is_table else Kind.LIST_ITEM,
            text,
            Box(100 * x, 20 * y, 100 * x + 150, 20 * y + 50),
            table=Table(1, 2, [Cell(text, 0, 0), Cell(text, 0, 1)]) if is_table else None,
        )
        for text, (x, y), is_table in texts
    ]
    runs = [run(text, 100 * x, 20 * y) for text, (x, y) in lines]
    shown = list(shares(page(1, *elements, runs=runs)))
    if runs:
        found = Counter(word for share in shown for word in share.text.split())
        assert found == Counter(word for one in runs for word in one.words)
    assert all(len(one.spans) == len(one.words) for share in shown for one in share.runs)


def test_what_was_written_is_read_back_as_it_was() -> None:
    first, leaning = full_page(), page(
        2,
        Element(Kind.CODE, "for oil in lamps:\n    fill(oil)", Box(50, 40, 300, 75)),
        Element(Kind.LIST_ITEM, "1.1 Wicks 14", Box(50, 98, 560, 122)),
        Element(Kind.LIST_ITEM, "1.2 Oils 16", Box(50, 112, 560, 132)),
        runs=[
            run("for oil in lamps:", 50, 42),
            run("fill(oil)", 70, 58),
            run("1.1 Wicks", 50, 100),
            run("14", 500, 112),
            run("1.2 Oils", 50, 116),
            run("16", 500, 120),
        ],
    )  # fmt: skip
    first.elements.pop()  # the formula, which has no words
    written = Reading("x", [first, leaning])
    source = opener(added(scans(2), written))()
    reader = DocumentReader(lambda: pytest.fail("the model was asked"), ReadOptions(hidden=Hidden.KEEP))
    try:
        found = settled(reader.read(source, [1, 2]))
    finally:
        reader.close()
        source.close()
    assert [one.record.structure for one in found.pages] == ["structure tree"] * 2
    assert export(found, Format.TEXT) == export(settled(written), Format.TEXT)

    def kinds(reading: Reading) -> list[tuple[Kind, int]]:
        elements = (element for one in reading.pages for element in one.elements)
        return [(element.kind, element.level) for element in elements if element.kind is not Kind.PAGE_HEADER]

    assert kinds(found) == kinds(written)
