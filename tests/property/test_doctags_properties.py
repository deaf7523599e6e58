"""DocTags: no text raises, every word is kept exactly once, and what is written is read back."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from warmwire.layout.blocks.markers import BULLETED, NUMBERED
from warmwire.layout.doctags import tokens
from warmwire.layout.doctags.writer import parse, write_page
from warmwire.layout.page import Cell, Element, Kind, Table

TAGS = [*tokens.BLOCKS, *tokens.LISTS, "doctag", "key_value_region", *tokens.CELLS, "loc_7", "loc_499"]
tag = st.builds(lambda slash, name: f"<{slash}{name}>", st.sampled_from(["", "/"]), st.sampled_from(TAGS))
word = st.text(alphabet="abcdefghij<&>.|é中_", min_size=1, max_size=8).filter(lambda w: not tokens.TAG.search(w))
soup = st.lists(st.one_of(tag, tag, word.map(lambda w: f" {w} "), st.sampled_from([" ", "\n\n"]))).map("".join)


def words(elements: list[Element]) -> Counter[str]:
    """Every word of some elements."""
    found: Counter[str] = Counter()
    for element in elements:
        found.update(element.marker.split())
        found.update(element.text.split())
        for cell in element.table.cells if element.table else ():
            found.update(cell.text.split())
    return found


@given(st.text())
def test_no_text_raises_or_loses_anything(text: str) -> None:
    bare = tokens.TAG.sub(lambda m: " " if tokens.is_tag(m["name"]) else m[0], text)
    assert words(parse(text)) == Counter(bare.split())


@given(soup)
def test_every_word_between_tags_is_kept_exactly_once(text: str) -> None:
    bare = tokens.TAG.sub(lambda m: " " if tokens.is_tag(m["name"]) else m[0], text)
    assert words(parse(text)) == Counter(bare.split())


prose = (
    st.lists(word, min_size=1, max_size=6)
    .map(" ".join)
    .filter(lambda t: not (NUMBERED.match(t) or BULLETED.match(t) or tokens.TAG.search(t)))
)
plain = st.builds(
    Element,
    st.sampled_from([k for k in Kind if k not in (Kind.TABLE, Kind.LIST_ITEM, Kind.HEADING)]),
    prose,
)
heading = st.builds(Element, st.just(Kind.HEADING), prose, level=st.integers(1, 6))
item = st.builds(
    lambda text, level, number: Element(
        Kind.LIST_ITEM, text, level=level, ordered=number > 0, marker=f"{number}." if number else ""
    ),
    prose,
    st.integers(1, 4),
    st.integers(0, 99),
)


@st.composite
def tables(draw: st.DrawFn) -> Element:
    """A grid cut into spans at random."""
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    taken: set[tuple[int, int]] = set()
    table = Table(rows, columns)
    for r in range(rows):
        for c in range(columns):
            if (r, c) in taken:
                continue
            height, width = draw(st.integers(1, 2)), draw(st.integers(1, 2))
            places = [(y, x) for y in range(r, r + height) for x in range(c, c + width)]
            if any(place in taken or place[0] >= rows or place[1] >= columns for place in places):
                places = [(r, c)]
            taken.update(places)
            rowspan, colspan = places[-1][0] - r + 1, places[-1][1] - c + 1
            table.cells.append(Cell(draw(prose), r, c, rowspan, colspan, draw(st.booleans())))
    return Element(Kind.TABLE, table=table)


@given(st.lists(st.one_of(plain, heading, item, tables())))
def test_what_is_written_is_read_back(page: list[Element]) -> None:
    assert parse(write_page(page, 100, 100)) == page


@given(st.lists(st.one_of(plain, heading, item, tables()), max_size=4), st.data())
def test_an_answer_cut_anywhere_invents_nothing(page: list[Element], data: st.DataObject) -> None:
    written = write_page(page, 100, 100)
    cut = written[: data.draw(st.integers(0, len(written)))]
    bare = re.sub(r"</?\w*$", "", cut)
    bare = tokens.TAG.sub(lambda m: " " if tokens.is_tag(m["name"]) else m[0], bare)
    kept = words(parse(cut))
    assert not Counter(bare.split()) - kept - Counter(bare.split()[-1:])
