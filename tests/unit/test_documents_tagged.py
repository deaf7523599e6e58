"""What a tagged PDF says of its own structure: headings, and all of a page where its tree can be believed."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pikepdf
import pytest

from warmwire.client import Engine
from warmwire.documents.input.open import open_bytes, open_source
from warmwire.documents.input.pdf import text
from warmwire.documents.output.markdown import to_markdown
from warmwire.documents.reading.reader import DocumentReader, plain_text
from warmwire.documents.reading.record import Reading, ReadPage
from warmwire.layout.page import Kind

DATA = Path(__file__).parents[1] / "data" / "documents"


def no_engine() -> Engine:
    pytest.fail("a digital page needs no engine")


@pytest.mark.parametrize(
    ("name", "page", "found"),
    [
        ("tagged.pdf", 0, [(1, "Harbour matters 0"), (2, "Lamps")]),
        ("tagged.pdf", 1, []),  # its tree calls all of the page headings
        ("digital.pdf", 0, []),  # it has none
    ],
)
def test_headings_of_the_structure_tree(name: str, page: int, found: list[tuple[int, str]]) -> None:
    source = open_source(str(DATA / name))
    opened = source.page(page)
    assert opened.text().headings == found
    opened.close()
    source.close()


def test_headings_are_such_whatever_they_look_like_and_a_lone_first_one_is_the_title() -> None:
    source = open_source(str(DATA / "tagged.pdf"))
    page = DocumentReader(no_engine).read(source, [1]).pages[0]
    source.close()
    heads = [(e.kind, e.level, e.text) for e in page.elements if e.kind in (Kind.TITLE, Kind.HEADING)]
    assert heads == [(Kind.TITLE, 1, "Harbour matters 0"), (Kind.HEADING, 1, "Lamps")]


@pytest.fixture(scope="module")
def structured() -> list[ReadPage]:
    source = open_source(str(DATA / "structured.pdf"))
    pages = DocumentReader(no_engine).read(source, [1, 2, 3, 4, 5]).pages
    source.close()
    return pages


def test_a_sound_tree_gives_order_lists_tables_and_pictures(structured: list[ReadPage]) -> None:
    page = structured[0]
    assert page.record.structure == "structure tree"
    found = [(element.kind, element.level, element.text) for element in page.elements if element.table is None]
    assert found == [
        (Kind.PAGE_HEADER, 1, "Harbour rules, draft"),
        (Kind.TITLE, 1, "Lamps and boats"),
        (
            Kind.TEXT,
            1,
            "Every lamp is counted before the boats leave the quay, and once more when they have come back.",
        ),
        (Kind.TEXT, 1, "Read this first, for it stands on the left."),
        (Kind.TEXT, 1, "Read this second, for it stands on the right."),
        (Kind.LIST_ITEM, 1, "the oil of the lamps"),
        (Kind.LIST_ITEM, 2, "and their wicks"),
        (Kind.LIST_ITEM, 1, "the ropes of the boats"),
        (Kind.PICTURE, 1, ""),
    ]
    items = [element.marker for element in page.elements if element.kind is Kind.LIST_ITEM]
    assert items == ["(i)", "-", "(ii)"]
    assert page.elements[-1].alt == "A picture of the harbour"


def test_cells_stand_where_the_tree_has_them(structured: list[ReadPage]) -> None:
    table = next(element.table for element in structured[0].elements if element.table is not None)
    assert (table.rows, table.columns) == (4, 4)
    spans = {cell.text: (cell.row, cell.column, cell.rowspan, cell.colspan) for cell in table.cells if cell.header}
    assert spans == {
        "Place": (0, 0, 2, 1),
        "Lamps": (0, 1, 1, 2),
        "Note": (0, 3, 2, 1),
        "old": (1, 1, 1, 1),
        "new": (1, 2, 1, 1),
    }
    body = {(cell.row, cell.column): cell.text for cell in table.cells if not cell.header}
    assert body[2, 2] == ""
    assert body[2, 3] == "far out"
    assert body[3, 2] == "33"


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        (2, "its order is not that of the page"),
        (3, "it leaves out 75% of the text"),
        (4, "its paragraphs are several each"),
    ],
)
def test_a_tree_that_cannot_be_is_left_aside(structured: list[ReadPage], number: int, fault: str) -> None:
    page = structured[number - 1]
    assert page.record.structure == f"layout; the structure tree is not used: {fault}"
    assert [element.kind for element in page.elements] == [Kind.TEXT] * 4


def test_what_a_tree_names_twice_is_read_once(structured: list[ReadPage]) -> None:
    assert [element.kind for element in structured[4].elements] == [Kind.TEXT] * 4
    assert len({element.box for element in structured[4].elements if element.box is not None}) == 4


def test_the_alternative_text_is_in_markdown(structured: list[ReadPage]) -> None:
    assert to_markdown(Reading("a", structured[:1])).endswith("<!-- image: A picture of the harbour -->")


def _hostile(spoil: Callable[[pikepdf.Pdf, pikepdf.Dictionary], None]) -> bytes:
    """The first page of `structured.pdf` after something was done to its tree, whose top element is given."""
    with pikepdf.open(DATA / "structured.pdf") as pdf:
        spoil(pdf, pdf.Root.StructTreeRoot.K[0])
        data = io.BytesIO()
        pdf.save(data)
    return data.getvalue()


def _ring(pdf: pikepdf.Pdf, top: pikepdf.Dictionary) -> None:
    top.K[0].K = pikepdf.Array([top, 1])
    top.P = top.K[0]


def _deep(pdf: pikepdf.Pdf, top: pikepdf.Dictionary) -> None:
    above = top.K[1]
    content = above.K
    for _ in range(500):
        inner = pdf.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.StructElem, S=pikepdf.Name.Sect, P=above))
        above.K = inner
        above = inner
    above.K = content
    pdf.Root.StructTreeRoot.ParentTree.Nums[1][2] = above


def _wide(pdf: pikepdf.Pdf, top: pikepdf.Dictionary) -> None:
    top.K[0].K = pikepdf.Array([*range(30_000)])


def _wrong_ids(pdf: pikepdf.Pdf, top: pikepdf.Dictionary) -> None:
    top.K[0].K = pikepdf.Array([-1, 1 << 31, 99999, pikepdf.Name.K, pikepdf.Dictionary()])


def _great_spans(pdf: pikepdf.Pdf, top: pikepdf.Dictionary) -> None:
    top.K[5].K[0].K[0].K[0].A = pikepdf.Dictionary(O=pikepdf.Name.Table, RowSpan=10**9, ColSpan=19_999)
    top.K[6].A = pikepdf.Dictionary(O=pikepdf.Name.Layout, BBox=[10**9, 5, 3, 1])


@pytest.mark.parametrize("spoil", [_ring, _deep, _wide, _wrong_ids, _great_spans])
def test_no_tree_costs_a_word(
    structured: list[ReadPage], spoil: Callable[[pikepdf.Pdf, pikepdf.Dictionary], None]
) -> None:
    source = open_bytes("a", _hostile(spoil))
    page = DocumentReader(no_engine).read(source, [1]).pages[0]
    source.close()
    assert page.record.skipped == []
    assert _words(page) == _words(structured[0])


def _words(page: ReadPage) -> list[str]:
    markers = " ".join(element.marker for element in page.elements)
    return sorted(f"{plain_text(page.elements)} {markers}".split())


def test_a_tree_that_fails_costs_no_page(structured: list[ReadPage], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise RecursionError("as deep as it goes")

    monkeypatch.setattr(text, "told_page", fail)
    source = open_source(str(DATA / "structured.pdf"))
    page = DocumentReader(no_engine).read(source, [1]).pages[0]
    source.close()
    assert page.record.structure == ""
    assert _words(page) == _words(structured[0])
