"""Tables as CSV and Excel files, passages for retrieval, hOCR and ALTO."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from xml.etree import ElementTree

import pytest

from warmwire.documents.output.chunks import LONGEST, chunk_lines
from warmwire.documents.output.places import alto, hocr
from warmwire.documents.output.tables import csv_files, grid_of, workbook
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage
from warmwire.layout.page import Box, Cell, Element, Kind, Table
from warmwire.layout.runs import Run


def table(rows: list[list[str]], headers: int = 1) -> Element:
    cells = [Cell(text, y, x, header=y < headers) for y, row in enumerate(rows) for x, text in enumerate(row) if text]
    return Element(Kind.TABLE, box=Box(10, 20, 110, 60), table=Table(len(rows), len(rows[0]), cells))


def reading(*pages: list[Element]) -> Reading:
    return Reading("a & b.pdf", [ReadPage(PageRecord(n), 600.0, 800.0, page) for n, page in enumerate(pages, 1)])


SHIPS = [["Ship", "Tons"], ["Gannet", "212"], ["Two|Sisters", "1.234"]]
CAPTION = Element(Kind.CAPTION, "Table 1. Ships.", Box(10, 8, 110, 18))


def test_headers_above_each_other_are_joined() -> None:
    grid = grid_of(table([["Size", ""], ["Length", "Width"], ["1", "2"]], headers=2).table)
    assert (grid.headers, grid.columns, grid.body) == (2, ["Size Length", "Width"], [["1", "2"]])
    assert grid_of(table([["a", "b"]], headers=0).table).columns is None
    assert grid_of(None).rows == []


def test_each_table_is_a_csv_file() -> None:
    (name, data), *more = csv_files(reading([table(SHIPS)])).items()
    assert (name, more) == (".csv", [])
    assert list(csv.reader(io.StringIO(data.decode("utf-8-sig")))) == SHIPS
    assert list(csv_files(reading([table(SHIPS)], [table(SHIPS)]))) == ["-1.csv", "-2.csv"]
    assert csv_files(reading([])) == {}


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-cmd", "'-cmd"),
        ("-12.5", "-12.5"),
        ("- item", "- item"),
        ("-", "-"),
    ],
)
def test_what_is_printed_is_no_formula(cell: str, written: str) -> None:
    (data,) = csv_files(reading([table([[cell]], headers=0)])).values()
    assert next(csv.reader(io.StringIO(data.decode("utf-8-sig")))) == [written]


def test_a_workbook_has_a_sheet_for_each_table_and_numbers_where_they_are() -> None:
    pytest.importorskip("xlsxwriter")
    data = workbook(reading([CAPTION, table(SHIPS)], [table([["=1", "007"]], headers=0)]))
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        names = book.read("xl/workbook.xml").decode()
        assert 'name="1 (page 1)"' in names
        assert 'name="2 (page 2)"' in names
        first, second = (book.read(f"xl/worksheets/sheet{n}.xml").decode() for n in (1, 2))
        shared = book.read("xl/sharedStrings.xml").decode()
    assert "<v>212</v>" in first
    assert "1.234" in shared, "a point before three figures may be a thousand's"
    assert "Table 1. Ships." in shared
    assert "<f>" not in second
    assert "007" in shared
    assert workbook(reading([])) == b""


def test_passages_know_their_headings_pages_and_places() -> None:
    title, rules = Element(Kind.TITLE, "Harbour"), Element(Kind.HEADING, "Rules", level=1)
    sub = Element(Kind.HEADING, "Ink", level=2)
    long = "word " * (LONGEST // 8)
    pages = [
        [Element(Kind.PAGE_HEADER, "head"), title, Element(Kind.TEXT, "Opened.", Box(1, 2, 3, 4)), rules],
        [Element(Kind.LIST_ITEM, "Pencils"), sub, *[Element(Kind.TEXT, long)] * 3, CAPTION, table(SHIPS)],
        [Element(Kind.HEADING, "Ships", level=1), Element(Kind.TEXT, "Two.")],
    ]
    found = [json.loads(line) for line in chunk_lines(reading(*pages)).splitlines()]
    assert [(chunk["headings"], chunk["pages"]) for chunk in found] == [
        (["Harbour"], [1]),
        (["Harbour", "Rules"], [2]),
        *[(["Harbour", "Rules", "Ink"], [2])] * 4,
        (["Harbour", "Ships"], [3]),
    ]
    assert found[0]["places"] == [{"page": 1, "kind": "text", "box": [1, 2, 3, 4]}]
    assert found[1]["text"] == "- Pencils"
    assert found[5]["text"].startswith(
        "Table 1. Ships.\n\n| Ship | Tons |\n| --- | --- |\n| Gannet | 212 |\n| Two\\|Sisters"
    )
    assert all(len(chunk["text"]) <= LONGEST + 4 for chunk in found)
    assert {chunk["source"] for chunk in found} == {"a & b.pdf"}


def lines() -> Reading:
    read = reading([Element(Kind.TEXT, "a", Box(0, 0, 300, 40)), Element(Kind.TEXT, "b", Box(0, 50, 300, 90))])
    texts = {"later <line>": 60, "first &best": 10}
    read.pages[0].runs = [
        Run(text, (10.0, y), (100.0, 0.0), (0.0, 12.0), ((0.0, 0.4), (0.5, 1.0)), 0.75) for text, y in texts.items()
    ]
    return read


def test_hocr_has_every_word_in_order_with_its_place() -> None:
    text = hocr(lines(), is_pdf=True)
    root = ElementTree.fromstring(text.split("?>", 1)[1].split(">", 1)[1])
    words = [e for e in root.iter() if e.get("class") == "ocrx_word"]
    assert [word.text for word in words] == ["first", "&best", "later", "<line>"]
    assert words[0].get("title") == "bbox 42 42 208 92; x_wconf 75"
    page = next(e for e in root.iter() if e.get("class") == "ocr_page")
    assert page.get("title") == 'image "a & b.pdf"; bbox 0 0 2500 3333; ppageno 0; scan_res 300 300'
    assert len([e for e in root.iter() if e.get("class") == "ocr_carea"]) == 2


def test_alto_has_the_same() -> None:
    root = ElementTree.fromstring(alto(lines(), is_pdf=False))
    space = "{http://www.loc.gov/standards/alto/ns-v4#}"
    strings = list(root.iter(f"{space}String"))
    assert strings[0].attrib == {
        "CONTENT": "first",
        "HPOS": "10",
        "VPOS": "10",
        "WIDTH": "40",
        "HEIGHT": "12",
        "WC": "0.75",
    }
    assert [string.get("CONTENT") for string in strings][-1] == "<line>"
    page = next(root.iter(f"{space}Page"))
    assert (page.get("WIDTH"), page.get("HEIGHT")) == ("600", "800")
