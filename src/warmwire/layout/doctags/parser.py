"""DocTags to elements, whatever the model wrote.

One pass over the tags, one open element at a time. A tag that opens an element ends the one before it, so an
unclosed tag swallows nothing; a closing tag without its opener is ignored; text outside every element becomes a
paragraph. Names that are not on the token list are literal text. Every word of the answer ends up in exactly one
element, in time and memory linear in the answer's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from warmwire.layout.blocks.markers import BULLETED, NUMBERED
from warmwire.layout.doctags import tokens
from warmwire.layout.doctags.otsl import Place, read_table
from warmwire.layout.doctags.tokens import GRID, MAX_LEVEL, TAG
from warmwire.layout.page import Box, Element, Kind

_LONGEST_TAG = 70
_DEEPEST_LIST = 64
_INLINE = "inline"
_PAIRS = "key_value_region"
_BLANK_LINES = re.compile(r"\n\s*\n")
_CUT_TAG = re.compile(r"</?([A-Za-z_|][\w|#+]+)\Z", re.ASCII)


def parse(text: str, width: float = GRID, height: float = GRID) -> list[Element]:
    """The elements of one page's DocTags; never raises on any text.

    Boxes are scaled from the grid to a page of `width` by `height`. A caption written inside a table or a picture
    comes right before it. An element without text is dropped unless it is a picture, a check box or a table.
    """
    return _Parser(width, height).read(text)


@dataclass(slots=True)
class _Open:
    """The element being read. `tag` is "" for text outside every element."""

    kind: Kind
    tag: str
    level: int = 1
    ordered: bool = False
    parts: list[str] = field(default_factory=list)
    has_text: bool = False
    inline: bool = False
    """Whether `<inline>` is open in it: then `tokens.RUNS` are runs of its text."""
    runs: bool = False
    """Whether it has such runs: line breaks between them mean nothing."""
    places: list[int] = field(default_factory=list)
    rows: list[list[Place]] | None = None
    """The grid so far, and `parts` the text of its last place; None before the first cell."""

    def add(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.has_text = self.has_text or not text.isspace()

    def part(self) -> None:
        """A tag was dropped here: what stood on both sides of it stays two words."""
        if self.has_text:
            self.parts.append(" ")

    @property
    def text(self) -> str:
        joined = "".join(self.parts)
        if self.runs:
            return " ".join(joined.split())
        return joined.strip("\n") if self.kind is Kind.CODE else joined.strip()


class _Parser:
    """What is open at one place of the answer, and what is done."""

    def __init__(self, width: float = GRID, height: float = GRID) -> None:
        self._scale = width / GRID, height / GRID
        self._in_pairs = False
        self._last = ""
        self._lists: list[str] = []
        self._open = _Open(Kind.TEXT, "")
        self._parent: _Open | None = None
        self._done: list[Element] = []

    def read(self, text: str) -> list[Element]:
        """The elements of the whole answer. A tag cut off by its end is dropped, if there were tags before."""
        at = 0
        for match in TAG.finditer(text):
            name = match["name"]
            if not self._is_tag_here(name, match.start() == at):
                continue
            self._open.add(text[at : match.start()])
            at = match.end()
            if match["close"]:
                self._end(name)
            else:
                self._begin(name)
            self._last = match[0]
        cut = _CUT_TAG.search(text, max(at, len(text) - _LONGEST_TAG))
        if cut and at and _starts_tag(cut[1]):
            text = text[: cut.start()]
        self._open.add(text[at:])
        self._flush()
        return self._done

    def _is_tag_here(self, name: str, adjacent: bool) -> bool:
        """Whether `<name>` is a tag at this place, not a word of the text; `adjacent` to the tag before it."""
        if name in tokens.BLOCKS or name in tokens.LISTS or name in tokens.GROUPS or name in tokens.CELLS:
            return True
        if name in tokens.NOISE or tokens.LOCATION.fullmatch(name):
            return True
        if name in tokens.PICTURE_CLASSES:
            return self._open.kind is Kind.PICTURE and not self._open.has_text
        if tokens.LANGUAGE.fullmatch(name):
            if self._open.inline:
                return adjacent and self._last == "<code>"
            return self._open.kind is Kind.CODE and not self._open.has_text
        return self._in_pairs and tokens.PAIR.fullmatch(name) is not None

    def _begin(self, name: str) -> None:
        if (kind := tokens.BLOCKS.get(name)) is not None:
            self._begin_block(name, kind)
        elif name in tokens.LISTS:
            self._flush()
            if len(self._lists) < _DEEPEST_LIST:
                self._lists.append(name)
        elif name in tokens.CELLS:
            self._begin_cell(name)
        elif name in tokens.GROUPS or tokens.PAIR.fullmatch(name):
            self._flush()
            self._in_pairs = self._in_pairs or name == _PAIRS
        elif place := tokens.LOCATION.fullmatch(name):
            self._begin_place(min(int(place[1]), GRID))
        else:
            self._open.part()

    def _begin_place(self, step: int) -> None:
        """One coordinate. Where a server stripped the tags, places are all that parts one paragraph from the next."""
        if self._open.has_text and (self._open.inline or not self._open.tag):
            self._flush()
        self._open.places.append(step)
        self._open.part()

    def _begin_block(self, name: str, kind: Kind) -> None:
        current = self._open
        if current.inline and name in tokens.RUNS:
            current.part()
            return
        if name == _INLINE and current.tag and current.kind not in (Kind.TABLE, Kind.PICTURE, Kind.CODE):
            current.inline = current.runs = True
            return
        if kind is Kind.TEXT and current.kind is Kind.LIST_ITEM and not current.has_text:
            return  # <list_item><text>...: the paragraph is the item
        if kind is Kind.CAPTION and current.kind in (Kind.TABLE, Kind.PICTURE) and self._parent is None:
            self._parent = current
        else:
            self._flush()
        if kind in (Kind.TITLE, Kind.HEADING):
            self._lists.clear()
        self._open = _Open(kind, name, inline=name == _INLINE, runs=name == _INLINE)
        if kind is Kind.HEADING:
            self._open.level = max(1, int(name[-1])) if name[-1].isdigit() else 1
        elif kind is Kind.LIST_ITEM:
            self._open.level = min(max(1, len(self._lists)), MAX_LEVEL)
            self._open.ordered = bool(self._lists) and tokens.LISTS[self._lists[-1]]

    def _begin_cell(self, name: str) -> None:
        """A place of a grid. Without a table around it, it opens one with the place of what it interrupts."""
        if self._open.kind is not Kind.TABLE and self._parent is not None and self._parent.kind is Kind.TABLE:
            self._close_caption()
        if self._open.kind is not Kind.TABLE:
            table = _Open(Kind.TABLE, "otsl", places=list(self._open.places))
            self._flush()
            self._open = table
        table = self._open
        if table.rows is None:
            table.rows = [[]]
            self._emit_text_before_table(table)
        else:
            self._fill_place(table)
        if name == tokens.CellToken.ROW_END:
            table.rows.append([])
        else:
            table.rows[-1].append((name, ""))

    def _end(self, name: str) -> None:
        if name in tokens.LISTS:
            self._flush()
            if name in self._lists:
                while self._lists.pop() != name:
                    pass
        elif name in tokens.GROUPS or tokens.PAIR.fullmatch(name):
            self._flush()
            self._in_pairs = self._in_pairs and name != _PAIRS
        elif self._open.inline and (name in tokens.RUNS or self._open.tag != name == _INLINE):
            self._open.part()
            self._open.inline = name != _INLINE
        elif name == self._open.tag:
            if self._parent is not None:
                self._close_caption()
            else:
                self._flush()
        elif self._parent is not None and name == self._parent.tag:
            self._flush()
        else:
            self._open.part()

    def _close_caption(self) -> None:
        """End a caption inside a table or a picture, and go on with that."""
        parent, self._parent = self._parent, None
        self._flush()
        if parent is not None:
            parent.part()
            self._open = parent

    def _flush(self) -> None:
        """End the open element, and the one around it."""
        current, parent = self._open, self._parent
        self._open, self._parent = _Open(Kind.TEXT, ""), None
        self._done.extend(self._finish(current))
        if parent is not None:
            self._done.extend(self._finish(parent))

    def _finish(self, current: _Open) -> Iterator[Element]:
        box = self._box(current.places)
        if current.rows is not None:
            yield from self._finish_table(current, box)
        elif current.kind is Kind.LIST_ITEM:
            yield from _list_item(current, box)
        elif not current.tag:
            yield from (Element(Kind.TEXT, part.strip(), box) for part in _BLANK_LINES.split(current.text) if part)
        elif current.kind is Kind.TABLE:
            yield from _text_if_any(current.text, box)
        elif current.text or current.kind in (Kind.PICTURE, Kind.CHECKED, Kind.UNCHECKED):
            yield Element(current.kind, current.text, box, level=current.level)

    def _finish_table(self, current: _Open, box: Box | None) -> Iterator[Element]:
        assert current.rows is not None
        self._fill_place(current)
        rows = [row for row in current.rows if row]
        table = read_table(rows)
        if table is not None:
            yield Element(Kind.TABLE, "", box, table=table)
        else:
            for row in rows:
                yield from _text_if_any(" ".join(text for _, text in row if text), box)

    def _emit_text_before_table(self, table: _Open) -> None:
        """Text between a table's tag and its first cell belongs to no place of the grid."""
        self._done.extend(_text_if_any(table.text, self._box(table.places)))
        table.parts.clear()

    def _fill_place(self, table: _Open) -> None:
        """Put the text since the last place into it; text after the end of a row opens a place."""
        assert table.rows is not None
        text = " ".join("".join(table.parts).split())
        table.parts.clear()
        if text and table.rows[-1]:
            table.rows[-1][-1] = (table.rows[-1][-1][0], text)
        elif text:
            table.rows[-1].append((tokens.CellToken.FULL, text))

    def _box(self, places: list[int]) -> Box | None:
        if len(places) < 4:
            return None
        (left, right), (top, bottom) = sorted(places[0:4:2]), sorted(places[1:4:2])
        x, y = self._scale
        return Box(left * x, top * y, right * x, bottom * y)


def _starts_tag(name: str) -> bool:
    names = [*tokens.BLOCKS, *tokens.LISTS, *tokens.GROUPS, *tokens.CELLS, *tokens.NOISE, "loc_"]
    return any(known.startswith(name) for known in names) or tokens.LOCATION.fullmatch(name) is not None


def _text_if_any(text: str, box: Box | None) -> Iterator[Element]:
    if text:
        yield Element(Kind.TEXT, text, box)


def _list_item(current: _Open, box: Box | None) -> Iterator[Element]:
    """The item, its printed number or bullet apart from its text."""
    text = current.text
    if text:
        printed = (NUMBERED if current.ordered else BULLETED).match(text)
        marker, rest = (printed[1], text[printed.end() :]) if printed else ("", text)
        yield Element(Kind.LIST_ITEM, rest, box, current.level, current.ordered, marker)
