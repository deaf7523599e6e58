"""Headings that a tagged PDF names itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmwire.client import Engine
from warmwire.documents.read import Reader
from warmwire.documents.source import open_source
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


def test_they_are_headings_of_their_level_whatever_they_look_like() -> None:
    source = open_source(str(DATA / "tagged.pdf"))
    page = Reader(no_engine).read(source, [1]).pages[0]
    source.close()
    heads = [(element.level, element.text) for element in page.elements if element.kind is Kind.HEADING]
    assert heads == [(1, "Harbour matters 0"), (2, "Lamps")]
