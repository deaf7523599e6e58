"""Links: which are kept, on which words, and how Markdown shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmwire.documents.input.links import Link, add_links, is_target, place_links
from warmwire.documents.input.open import open_source
from warmwire.documents.output.document import build_document
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.reader import DocumentReader
from warmwire.documents.reading.record import Reading
from warmwire.layout.page import Box, Element, Kind

DATA = Path(__file__).parents[1] / "data" / "documents"


def no_engine() -> object:
    raise AssertionError("a page with text needs no engine")


@pytest.fixture(scope="module")
def reading() -> Reading:
    return DocumentReader(no_engine).read(open_source(str(DATA / "links.pdf")), [1])  # type: ignore[arg-type]


def test_links_of_a_file_stand_on_their_words(reading: Reading) -> None:
    markdown = export(reading, Format.MD)
    assert "[master\\]](https://example.org/a_%28b%29?q=1%202) and more" in markdown
    assert "(mailto:ada@example.org)" in markdown
    assert "[http://example.org/](http://example.org/)" in markdown
    assert "javascript" not in markdown
    assert "nothing" not in markdown


def test_what_is_written_over_a_page_is_its_text(reading: Reading) -> None:
    assert "Checked by Ada" in export(reading, Format.MD)


def test_a_link_on_a_whole_item_is_docling_cores(reading: Reading) -> None:
    links = [text for text in build_document(reading).texts if text.hyperlink is not None]
    assert [(text.text, str(text.hyperlink)) for text in links] == [("http://example.org/", "http://example.org/")]
    assert "<a href" in export(reading, Format.HTML)


def test_no_text_is_changed_for_a_link(reading: Reading) -> None:
    assert "harbourmaster] and more" in export(reading, Format.TEXT)


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://example.org/", True),
        ("HTTP://example.org/a?b#c", True),
        ("mailto:a@b.c", True),
        ("javascript:alert(1)", False),
        ("file:///etc/passwd", False),
        ("https://", False),
        ("https://a b", True),
        ("https://a\nb", False),
        ("data:text/html,x", False),
        ("", False),
    ],
)
def test_only_the_web_and_mailboxes_are_led_to(address: str, kept: bool) -> None:
    assert is_target(address) is kept


@pytest.mark.parametrize(
    ("markdown", "links", "right"),
    [
        ("see here now", [("here", "http://x.y")], "see [here](http://x.y) now"),
        ("a well-known ship", [("wellknown", "http://x.y")], "a [well-known](http://x.y) ship"),
        ("one two one", [("one", "http://a.b"), ("one", "http://c.d")], "[one](http://a.b) two [one](http://c.d)"),
        ("x\\*y", [("x*y", "http://x.y")], "[x\\*y](http://x.y)"),
        ("x [1] y", [("[1]", "http://x.y/")], "x [\\[1\\]](http://x.y/) y"),
        ("gone", [("other", "http://x.y")], "gone"),
        ("page", [("", "http://x.y"), ("p" * 500, "http://x.y")], "page"),
        ("x", [("x", "http://x.y/)](z <b>")], "[x](http://x.y/%29%5D%28z%20%3Cb%3E)"),
    ],
)
def test_links_in_markdown(markdown: str, links: list[tuple[str, str]], right: str) -> None:
    assert add_links(markdown, links) == right


def test_a_link_is_placed_where_its_words_are() -> None:
    here, there = (Element(Kind.TEXT, "the same words", Box(0, top, 100, top + 20)) for top in (0, 50))
    place_links([Element(Kind.TEXT, "no place"), here, there], [Link("same", "http://x.y", Box(10, 55, 30, 65))])
    assert (here.links, there.links) == ([], [("same", "http://x.y")])
