"""Born-digital pages from file to elements: what a reader would see, in the order a reader would read it."""

from __future__ import annotations

from pathlib import Path

from warmwire.documents.input.open import open_source
from warmwire.documents.reading.reader import DocumentReader, ReadOptions
from warmwire.layout.page import Element, Kind

DATA = Path(__file__).parents[1] / "data" / "documents"


def no_engine() -> object:
    raise AssertionError("a page with text needs no engine")


def elements(name: str) -> list[Element]:
    reader = DocumentReader(no_engine, ReadOptions(threshold=0))  # type: ignore[arg-type]
    return [e for page in reader.read(open_source(str(DATA / name)), [1]).pages for e in page.elements]


def outline(found: list[Element]) -> list[str]:
    """A word or two of each element: its kind and its first word, a table's cells in a row."""
    return [
        "table " + " ".join(cell.text for cell in e.table.cells) if e.table else f"{e.kind} {e.text.split()[0]}"
        for e in found
    ]


def test_a_page_with_a_list_and_a_table() -> None:
    assert outline(elements("digital.pdf")) == [
        "title Log",
        "text The",
        "section_header What",
        "text The",
        "list_item Book",
        "list_item Book",
        "list_item Book",
        "table Ship Year Gannet 1871 Two|Sisters 1902",
        "text The",
    ]


def test_tables_in_columns_stay_in_their_columns() -> None:
    ships = "table Ship Year Cargo Gannet 1871 Salt Patience 1890 Coal Sisters 1902 Tin"
    found = elements("columns.pdf")
    assert outline(found) == [
        "title Two",
        "text Alpha",
        "section_header Ships",
        ships,
        "text Beta",
        "list_item item",
        "list_item item",
        "list_item item",
        "text Gamma",
        "section_header Ships",
        ships,
        "text Delta",
    ]
    assert all(e.text.endswith("end.") for e in found if e.kind is Kind.TEXT)


def test_boxes_filled_between_two_rectangles_are_frames_and_no_pictures() -> None:
    text = open_source(str(DATA / "borders.pdf")).page(0).text()
    assert len(text.rules) == 4 * 4 + 4 + 1
    assert len(text.figures) == 1
    found = elements("borders.pdf")
    (table,) = [e.table for e in found if e.table is not None]
    assert [cell.text for cell in table.cells] == ["Ship Gannet", "Year 1871", "Port Leith", "Crew 40"]
    assert [e.text for e in found if e.kind is Kind.CODE] == ["lift(crate)\nreturn 0"]


def test_contents_and_code_keep_their_lines() -> None:
    found = elements("contents.pdf")
    assert [e.text for e in found[1:7]] == [
        "1 Ships 3",
        "2 Harbours 5",
        "2.1 Quays 5",
        "2.2 Cranes 8",
        "3 Lamps 9",
        "3.1 Oil 9",
    ]
    assert all(e.kind is Kind.LIST_ITEM for e in found[1:7])
    (code,) = [e for e in found if e.kind is Kind.CODE]
    assert code.text == "def load(ship):\n    for crate in ship:\n        lift(crate) # one by one\n    return 0"
