"""What each part of a page is: a heading, a list item, a caption, a footnote, a formula, code, or text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from warmwire.layout.blocks.bylines import bylines
from warmwire.layout.blocks.code import code_text, joined_code
from warmwire.layout.blocks.entries import find_entries
from warmwire.layout.blocks.formulas import with_formulas
from warmwire.layout.blocks.headings import Look, is_heading, level_of, plain_heads, title_of
from warmwire.layout.blocks.hyphens import Vocabulary, join_lines
from warmwire.layout.blocks.markers import Marker, MarkerStyle
from warmwire.layout.blocks.notes import footnotes, is_caption, note_text
from warmwire.layout.blocks.paragraphs import Paragraph
from warmwire.layout.looks import dress
from warmwire.layout.measures import DEEP
from warmwire.layout.page import Box, Element, Kind
from warmwire.layout.rows import same_row

Part = Paragraph | Element

NESTED = 0.8
"""An item set in by this much, in units of the body, is inside the one above."""

REPEATED = 3
"""Lines of one wording, so often on a page, are labels of drawings or of forms and no headings."""

SMALLER = 0.93
"""Notes, and what is said in a drawing, are smaller than the text that goes on past them, by this factor."""

SHORTEST = 40
"""Letters of a text that goes on past others; a shorter one may be a label."""

ONE_SIZE = 1.2
"""Items of one list are set in one size; recognised sizes of one text differ by up to this factor."""


def blocks(
    parts: Sequence[Part],
    height: float,
    size: float,
    rules: Sequence[Box],
    vocabulary: Vocabulary,
) -> list[Element]:
    """The elements of a page's parts, which are in reading order; `size` is the body's."""
    return _Classifier(list(with_formulas(joined_code(parts), size)), height, size, rules, vocabulary).elements()


@dataclass(slots=True)
class _OpenList:
    """A list that may go on: where its items begin, and the marker and the first line of its last."""

    left: float
    marker: Marker | None
    line: Box


@dataclass(frozen=True, slots=True)
class _OpenText:
    """A text that may go on in the next column or past what stands between: its place among the elements found, and
    its last paragraph."""

    place: int
    part: Paragraph


class _Classifier:
    """Tells the parts of one page apart; knows what stands before and after each."""

    def __init__(
        self,
        parts: Sequence[Part],
        height: float,
        size: float,
        rules: Sequence[Box],
        vocabulary: Vocabulary,
    ) -> None:
        self.parts = parts
        self.size = size
        self.vocabulary = vocabulary
        self.figures = [part.box for part in parts if isinstance(part, Element) and part.box is not None]
        texts = [part for part in parts if isinstance(part, Paragraph)]
        self.look = Look.of(texts, size)
        self.notes = {id(texts[i]) for i in footnotes(texts, height, size, rules)}
        self.entries = find_entries(parts)
        self.margins = _margins(texts, size)
        self.captions = {id(part) for part in texts if is_caption(part, self.figures, size)}
        self.headings = [
            part
            for before, part, after in zip((None, *parts), parts, (*parts[1:], None), strict=False)
            if isinstance(part, Paragraph) and self._heads(before, part, after)
        ]
        self.headings += plain_heads([part for part in texts if not part.formula], self.headings, self.look)
        said = Counter(" ".join(part.texts) for part in self.headings)
        self.headings = [part for part in self.headings if said[" ".join(part.texts)] < REPEATED]
        opening = next((i for i, part in enumerate(texts) if len(part.lines) > 2), len(texts))
        early = {id(part) for part in texts[:opening]}
        top = min(texts, key=lambda part: part.box.top, default=None)  # above what stands beside the text, too
        self.title = title_of([part for part in self.headings if part is top], self.headings, size)
        if self.title is None:
            self.title = title_of([part for part in self.headings if id(part) in early], self.headings, size)
        if self.title is not None:
            names = {id(part) for part in bylines(self.title, texts, set(map(id, self.headings)), size)}
            self.headings = [part for part in self.headings if id(part) not in names]

    def _heads(self, before: Part | None, part: Paragraph, after: Part | None) -> bool:
        """Whether a part is a heading; an item among items that count on is none, however it is set."""
        known = (self.notes, self.entries, self.captions)
        if part.formula or any(id(part) in ids for ids in known):
            return False
        if _counts_on(before, part) or _counts_on(part, after):
            return False
        above, below = (other if isinstance(other, Paragraph) else None for other in (before, after))
        if below is not None and id(below) in self.entries and _is_initial(part, below):
            return True
        return is_heading(above, part, below, self.look)

    def elements(self) -> list[Element]:
        heads = {id(heading) for heading in self.headings}
        lists: list[_OpenList] = []
        found: list[Element] = []
        open_texts: list[_OpenText] = []
        for part in self.parts:
            if isinstance(part, Element):
                lists.clear()
                found.append(part)
                continue
            if id(part) in self.entries or (part.marker is not None and id(part) not in heads):
                found.append(dress(self._list_item(part, lists), part.lines))
                open_texts.clear()
                continue
            lists.clear()
            element = dress(self._text(part, id(part) in heads), part.lines)
            onward = (one for one in reversed(open_texts) if self._goes_on(found, one, element, part))
            before = next(onward, None)
            if before is None:
                place = len(found)
                found.append(element)
            else:
                place = before.place
                text = join_lines([found[place].text, element.text], self.vocabulary)
                found[place] = replace(found[place], text=text)
            _keep_open(open_texts, _OpenText(place, part), element.kind)
        return found

    def _list_item(self, part: Paragraph, lists: list[_OpenList]) -> Element:
        """A list item; `lists` are the open lists around it, outermost first."""
        marker = part.marker
        left = part.lines[0].box.left - self.margins[id(part)]
        followed = next((i for i, one in enumerate(lists) if _follows(one.marker, marker)), None)
        if followed is not None:  # whatever its indent: numbers may be set flush right
            del lists[followed + 1 :]
        else:
            while lists and left < lists[-1].left - NESTED * self.size:
                lists.pop()
        first = part.lines[0].box
        inside = followed is None and bool(lists) and left > lists[-1].left + NESTED * self.size
        if not lists or (inside and not same_row(lists[-1].line, first)):  # those beside each other are equals
            lists.append(_OpenList(left, marker, first))
        lists[-1].marker, lists[-1].line = marker, first
        text = join_lines(part.texts, self.vocabulary)
        style = marker.style if marker is not None else MarkerStyle.BULLET
        kind = {MarkerStyle.CHECKED: Kind.CHECKED, MarkerStyle.UNCHECKED: Kind.UNCHECKED}.get(style, Kind.LIST_ITEM)
        element = Element(kind, text, part.box)
        element.level = len(lists)
        if marker is not None:
            element.ordered, element.marker = marker.ordered, marker.text
        return element

    def _text(self, part: Paragraph, is_heading: bool) -> Element:
        text = join_lines((line.text for line in part.lines), self.vocabulary)
        kind = Kind.TEXT
        if part is self.title:
            kind = Kind.TITLE
        elif id(part) in self.notes:
            kind, text = Kind.FOOTNOTE, note_text(text)
        elif id(part) in self.captions:
            kind = Kind.CAPTION
        elif is_heading:
            kind = Kind.HEADING
        elif part.formula:
            kind = Kind.FORMULA
        elif all(line.mono for line in part.lines) and len(part.lines) > 1:
            kind, text = Kind.CODE, code_text(part.lines)
        elif part.set_in_lines:
            text = "\n".join(line.text.strip() for line in part.lines)
        element = Element(kind, text, part.box)
        if is_heading:
            element.level = level_of(part, self.size)
        return element

    def _goes_on(self, found: Sequence[Element], text: _OpenText, element: Element, part: Paragraph) -> bool:
        """Whether a paragraph goes on here from the foot of the column before, or from above a float."""
        above, last = found[text.place], text.part
        if element.kind is not Kind.TEXT or not above.text or not element.text:
            return False
        alike = abs(part.size - last.size) < 0.1 * self.size
        open_end = above.text[-1].isalnum() or above.text[-1] in ",-‐"
        if not (alike and open_end and element.text[0].islower()):
            return False
        follows = above is found[-1]
        if not follows and len(above.text) < SHORTEST:
            return False
        moved = part.box.top < last.box.bottom  # from the foot of one column to the head of the next
        between = (other.box for other in self.parts if follows or isinstance(other, Element))
        return moved or any(_is_between(last.box, box, part.box) for box in between if box is not None)


def _margins(texts: Sequence[Paragraph], size: float) -> dict[int, float]:
    """The left margin of the column that each paragraph stands in: a list goes on in the next column."""
    margins: dict[int, float] = {}
    column: list[Paragraph] = []
    left = math.inf
    for part in texts:
        box = part.box
        if column and (_is_beside(column[-1].box, box) or box.left < left - DEEP * size):
            margins |= {id(one): left for one in column}
            column, left = [], math.inf
        column.append(part)
        left = min(left, box.left)
    return margins | {id(one): left for one in column}


def _is_beside(one: Box, other: Box) -> bool:
    """Whether a box is above the one before it, or nowhere under it."""
    return other.bottom < one.top or other.left > one.right or other.right < one.left


def _is_between(above: Box, box: Box, below: Box) -> bool:
    """Whether `box` parts two texts of one column: it is what the column goes on past."""
    parts = above.bottom <= box.centre[1] <= below.top
    return parts and box.left < min(above.right, below.right) and box.right > max(above.left, below.left)


def _follows(marker: Marker | None, other: Marker | None) -> bool:
    """Whether a number is the next one after another of its kind."""
    if marker is None or other is None or not other.ordered:
        return False
    return (marker.style, marker.frame, marker.value + 1) == (other.style, other.frame, other.value)


def _is_initial(part: Paragraph, entry: Paragraph) -> bool:
    """Whether a paragraph is the letter that an entry of an index, and those after it, begin with."""
    text = part.lines[0].text.strip()
    return len(part.lines) == 1 and len(text) == 1 and text.isupper() and entry.lines[0].text[:1].upper() == text


def _counts_on(above: Part | None, below: Part | None) -> bool:
    """Whether two parts, one under the other, are items of one list: their numbers follow, and their sizes are one."""
    if not isinstance(above, Paragraph) or not isinstance(below, Paragraph):
        return False
    alike = max(above.size, below.size) < ONE_SIZE * min(above.size, below.size)
    return alike and _follows(above.marker, below.marker)


def _keep_open(texts: list[_OpenText], last: _OpenText, kind: Kind) -> None:
    """Put the last of the texts that may go on at their end. Captions, notes and smaller print close none; anything
    else does."""
    if kind not in (Kind.CAPTION, Kind.FOOTNOTE):
        texts[:] = [one for one in texts if kind is Kind.TEXT and last.part.size < SMALLER * one.part.size]
    if kind is Kind.TEXT:
        texts.append(last)
