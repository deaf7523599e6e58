"""What each part of a page is: a heading, a list item, a caption, a footnote, code, or text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from warmwire.layout.code import code_text
from warmwire.layout.headings import is_heading, level_of, title_of
from warmwire.layout.hyphens import Vocabulary, join_lines
from warmwire.layout.markers import Style
from warmwire.layout.notes import footnotes, is_caption, note_text
from warmwire.layout.page import Box, Element, Kind, Region, RegionKind
from warmwire.layout.paragraphs import Paragraph

Part = Paragraph | Element


def blocks(
    parts: Sequence[Part],
    height: float,
    size: float,
    regions: Sequence[Region],
    rules: Sequence[Box],
    vocabulary: Vocabulary,
) -> list[Element]:
    """The elements of a page's parts, which are in reading order; `size` is the body's."""
    return _Classifier(parts, height, size, regions, rules, vocabulary).elements()


class _Classifier:
    """Tells the parts of one page apart; knows what stands before and after each."""

    def __init__(
        self,
        parts: Sequence[Part],
        height: float,
        size: float,
        regions: Sequence[Region],
        rules: Sequence[Box],
        vocabulary: Vocabulary,
    ) -> None:
        self.parts = parts
        self.size = size
        self.vocabulary = vocabulary
        self.figures = [part.box for part in parts if isinstance(part, Element) and part.box is not None]
        titles = [region.box for region in regions if region.kind is RegionKind.TITLE]
        texts = [part for part in parts if isinstance(part, Paragraph)]
        self.notes = {id(texts[i]) for i in footnotes(texts, height, size, rules)}
        self.headings = [
            part
            for part, after in pairwise((*parts, None))
            if isinstance(part, Paragraph)
            and id(part) not in self.notes
            and is_heading(part, after if isinstance(after, Paragraph) else None, size, titles)
        ]
        opening = next((i for i, part in enumerate(texts) if len(part.lines) > 2), len(texts))
        self.title = title_of([part for part in self.headings if part in texts[:opening]], self.headings, size)

    def elements(self) -> list[Element]:
        heads = {id(heading) for heading in self.headings}
        indents: list[float] = []
        found: list[Element] = []
        last: Paragraph | None = None
        for part in self.parts:
            if isinstance(part, Element):
                indents.clear()
                found.append(part)
                continue
            if part.marker is not None and id(part) not in heads:
                found.append(self._list_item(part, indents))
            else:
                indents.clear()
                element = self._text(part, id(part) in heads)
                if last is not None and found and self._goes_on(found[-1], element, last, part):
                    text = join_lines([found[-1].text, element.text], self.vocabulary)
                    found[-1] = replace(found[-1], text=text)
                else:
                    found.append(element)
            last = part
        return found

    def _list_item(self, part: Paragraph, indents: list[float]) -> Element:
        """A list item; `indents` are those of the open lists around it, outermost first."""
        marker = part.marker
        assert marker is not None
        left = part.lines[0].box.left
        while indents and left < indents[-1] - 0.8 * self.size:
            indents.pop()
        if not indents or left > indents[-1] + 0.8 * self.size:
            indents.append(left)
        kind = {Style.CHECKED: Kind.CHECKED, Style.UNCHECKED: Kind.UNCHECKED}.get(marker.style, Kind.LIST_ITEM)
        text = join_lines(part.texts, self.vocabulary)
        return Element(kind, text, part.box, level=len(indents), ordered=marker.ordered, marker=marker.text)

    def _text(self, part: Paragraph, is_heading: bool) -> Element:
        text = join_lines((line.text for line in part.lines), self.vocabulary)
        if part is self.title:
            return Element(Kind.TITLE, text, part.box)
        if id(part) in self.notes:
            return Element(Kind.FOOTNOTE, note_text(text), part.box)
        if is_caption(part, self.figures, self.size):
            return Element(Kind.CAPTION, text, part.box)
        if is_heading:
            return Element(Kind.HEADING, text, part.box, level=level_of(part, self.size))
        if all(line.mono for line in part.lines) and len(part.lines) > 1:
            return Element(Kind.CODE, code_text(part.lines), part.box)
        return Element(Kind.TEXT, text, part.box)

    def _goes_on(self, above: Element, element: Element, last: Paragraph, part: Paragraph) -> bool:
        """Whether a paragraph goes on here from the foot of the column before."""
        if above.kind is not Kind.TEXT or element.kind is not Kind.TEXT or not above.text or not element.text:
            return False
        moved = part.box.top < last.box.bottom  # from the foot of one column to the head of the next
        alike = abs(part.size - last.size) < 0.1 * self.size
        open_end = above.text[-1].isalnum() or above.text[-1] in ",-‐"
        return moved and alike and open_end and element.text[0].islower()
