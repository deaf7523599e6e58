"""A page's elements from what its file says of its structure.

Order, paragraphs, lists, tables and headings are the tree's. What it does not name is still told by looks: a heading
that it calls a paragraph on a page for which it names none, captions, footnotes, code. Text that it leaves out stands
after what it stands beside or below on the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from warmwire.layout.blocks.hyphens import Vocabulary, join_lines
from warmwire.layout.blocks.kinds import Part, blocks
from warmwire.layout.blocks.markers import Marker, find_markers, markers_of, opens_item
from warmwire.layout.blocks.markers import MarkerStyle as Marking
from warmwire.layout.blocks.notes import note_text
from warmwire.layout.blocks.paragraphs import Paragraph, gathered, paragraphs
from warmwire.layout.looks import dress
from warmwire.layout.order.furniture import furniture
from warmwire.layout.order.turned import level_lines
from warmwire.layout.page import Box, Element, Kind, Line
from warmwire.layout.rows import body_size, bounds
from warmwire.layout.structure import structure
from warmwire.layout.told.elements import BLOCKS, Role, Told, ToldPage, letters_in
from warmwire.layout.told.grid import lays_out, told_table

SMALLEST = 0.005
"""Share of a page that a picture without words for it takes up at least; smaller ones are bullets and icons."""
_HOLDING = (Role.GROUP, Role.LIST, Role.TABLE, Role.ROW)
"""What holds other parts and no words of its own."""
_WORDY = (Role.WORDS, Role.PARAGRAPH, Role.CODE, Role.FORMULA, Role.NOTE, Role.CAPTION)


def retold(
    page: ToldPage,
    width: float,
    height: float,
    *,
    figures: Sequence[Box] = (),
    rules: Sequence[Box] = (),
    skipped: list[str] | None = None,
) -> list[Element]:
    """The elements of a page whose tree is sound. Arguments are those of `structure`."""
    teller = _Reteller(page, width * height, figures)
    level, _ = level_lines(page.untold)
    own = [] if letters_in(page.artifacts) else page.root.all_lines()
    edges = furniture([*own, *level], height, teller.size, rules, teller.tables())
    running = {id(line) for line in (*edges.head, *edges.foot)}
    running &= {*map(id, level), *teller.take_out(running)}
    parts = teller.parts()
    told = {id(part) for part in parts if isinstance(part, Element)}
    body = blocks(parts, height, teller.size, rules, teller.vocabulary)
    named = [part.kind for part in parts if isinstance(part, Element) and part.kind in (Kind.HEADING, Kind.TITLE)]
    for element in body if named else ():  # the tree knows headings; a title it may have taken for a paragraph
        looks_so = element.kind is Kind.HEADING or (element.kind is Kind.TITLE and Kind.TITLE in named)
        if looks_so and id(element) not in told:
            element.kind, element.level = Kind.TEXT, 1
    left = [line for line in page.untold if id(line) not in running]
    rest = structure(left, width, height, rules=rules, skipped=skipped) if left else []
    for element in (*rest, *teller.untold_pictures()):
        _insert(body, element)
    middle = height / 2
    artifacts = [line for line in page.artifacts if any(map(str.isalnum, line.text))]
    head = [
        *(line for line in edges.head if id(line) in running),
        *(line for line in artifacts if line.box.centre[1] < middle),
    ]
    foot = [
        *(line for line in edges.foot if id(line) in running),
        *(line for line in artifacts if line.box.centre[1] >= middle),
    ]
    return [*_furniture(head, Kind.PAGE_HEADER), *body, *_furniture(foot, Kind.PAGE_FOOTER)]


def _furniture(lines: Sequence[Line], kind: Kind) -> Iterator[Element]:
    return (dress(Element(kind, line.text.strip(), line.box), [line]) for line in lines)


def _insert(body: list[Element], element: Element) -> None:
    """Put an element that has no place in the order behind the one that it stands right below, or beside."""
    box = element.box
    if box is None:
        body.append(element)
        return
    above = [
        (max(0.0, box.top - other.bottom) + max(0.0, box.left - other.right, other.left - box.right), at)
        for at, other in ((at, one.box) for at, one in enumerate(body))
        if other is not None and other.top <= box.centre[1] and other.left < box.right
    ]
    body.insert(min(above)[1] + 1 if above else 0, element)


class _Reteller:
    """Walks one page's tree and gives the parts of the page in its order."""

    def __init__(self, page: ToldPage, area: float, figures: Sequence[Box]) -> None:
        lines = page.root.all_lines()
        for part in page.root.walk():
            if part.role in _HOLDING and part.lines:
                part.kids, part.lines = [Told(Role.WORDS, part.lines), *part.kids], []
        self._page = page
        self._area = area
        self._figures = set(figures)
        self.size = body_size(lines)
        self.vocabulary = Vocabulary.of(line.text for line in lines)
        heads = [part for part in page.root.walk() if part.role is Role.HEADING and part.lines]
        tops = [part for part in heads if part.level == 1]
        self._title = tops[0] if len(tops) == 1 and tops[0] is heads[0] else None

    def tables(self) -> list[Box]:
        return [
            bounds(line.box for line in lines)
            for part in self._page.root.walk()
            if part.role is Role.TABLE and (lines := part.all_lines())
        ]

    def untold_pictures(self) -> Iterator[Element]:
        """Pictures that the tree leaves out and does not call ornaments."""
        return (Element(Kind.PICTURE, box=box) for box in self._page.pictures if box in self._figures)

    def take_out(self, running: set[int]) -> Iterator[int]:
        """Take paragraphs whose lines are all running ones out of the tree, and give their lines (ids)."""
        for part in _free(self._page.root):
            if part.lines and part.role in (Role.WORDS, Role.PARAGRAPH) and running.issuperset(map(id, part.lines)):
                yield from map(id, part.lines)
                part.lines = []

    def parts(self) -> list[Part]:
        """The page's parts in the order of the tree."""
        return self._marked(list(self._all(self._page.root)))

    def _marked(self, parts: list[Part]) -> list[Part]:
        """The same with the markers of paragraphs that are items of lists by their looks alone."""
        plain = [part for part in parts if isinstance(part, Paragraph)]
        for part, marker in zip(plain, find_markers([part.lines[0] for part in plain], self.size), strict=True):
            part.marker = marker
        return parts

    def _all(self, part: Told) -> Iterator[Part]:
        for kid in part.kids:
            yield from self._part(kid)

    def _part(self, part: Told) -> Iterator[Part]:
        match part.role:
            case Role.HEADING | Role.TITLE | Role.CAPTION:
                is_title = part is self._title or part.role is Role.TITLE
                part = _gathered(part)
                if part.lines:
                    yield self._named(part, is_title)
            case Role.NOTE:
                yield from self._note(part)
                return
            case Role.LIST | Role.ITEM | Role.ENTRY:
                yield from self._list(part, 1)
                return
            case Role.TABLE:
                yield from self._table(part)
                return
            case Role.FIGURE:
                yield from self._figure(part)
                return
            case Role.CODE:
                yield from self._code(part)
                return
            case Role.FORMULA:
                if lines := part.all_lines():
                    yield Paragraph(lines, formula=True)
                return
            case _:
                yield from self._paragraphs(part)
        yield from self._all(part)

    def _element(self, kind: Kind, lines: Sequence[Line]) -> Element:
        return dress(Element(kind, self._text(lines), bounds(line.box for line in lines)), lines)

    def _text(self, lines: Sequence[Line]) -> str:
        return join_lines((line.text for line in lines), self.vocabulary)

    def _named(self, part: Told, is_title: bool) -> Element:
        """A caption, a heading or the title."""
        if part.role is Role.CAPTION:
            return self._element(Kind.CAPTION, part.lines)
        element = self._element(Kind.TITLE if is_title else Kind.HEADING, part.lines)
        element.level = 1 if is_title else max(part.level, 1)
        return element

    def _paragraphs(self, part: Told) -> Iterator[Paragraph]:
        """The words of a part: one paragraph where it is called so, else as many as they look like; boxes to tick are
        items each, and often called one paragraph."""
        if not part.lines:
            return
        found = paragraphs(part.lines, self.size)
        boxes = sum(opens_item(line.text) for line in part.lines) > 1
        if part.role is Role.WORDS or len(found) == 1 or boxes:
            yield from found
        else:
            yield Paragraph(list(part.lines))

    def _note(self, part: Told) -> Iterator[Part]:
        if any(inner.role in (Role.FIGURE, Role.CAPTION, Role.TABLE) for inner in part.walk()):
            yield from self._paragraphs(part)  # a float, tied to the text as notes are
            yield from self._all(part)
        elif lines := part.all_lines():
            note = self._element(Kind.FOOTNOTE, lines)
            note.text = note_text(note.text)
            yield note

    def _code(self, part: Told) -> Iterator[Part]:
        if lines := part.all_lines():
            for line in lines:
                line.mono = True
            yield Paragraph(lines)

    def _list(self, part: Told, level: int) -> Iterator[Part]:
        """The items of a list; a list inside of it, or of an item, is one level deeper."""
        if part.role in (Role.ITEM, Role.ENTRY):
            yield from self._item(part, level)
            return
        for kid in part.kids:
            if kid.role is Role.LIST:
                yield from self._list(kid, level + 1)
            elif kid.role in (Role.ITEM, Role.ENTRY):
                yield from self._item(kid, level)
            elif kid.role is Role.CAPTION and any(other.role is Role.ENTRY for other in part.kids):
                yield from self._part(replace(kid, role=Role.HEADING))
            else:
                yield from self._part(kid)

    def _item(self, part: Told, level: int) -> Iterator[Part]:
        label = [line for kid in part.kids if kid.role is Role.LABEL for line in kid.all_lines()]
        lines: list[Line] = list(part.lines)
        rest: list[Told] = []
        for kid in part.kids:
            if kid.role in _WORDY and not rest:
                lines += kid.all_lines()
            elif kid.role is not Role.LABEL:
                rest.append(kid)
        if label or lines:
            yield self._list_item(label, lines, level, entry=part.role is Role.ENTRY)
        for kid in rest:
            if kid.role in (Role.LIST, Role.ITEM, Role.ENTRY):
                yield from self._list(kid, level + 1)
            else:
                yield from self._part(kid)

    def _list_item(self, label: Sequence[Line], lines: Sequence[Line], level: int, entry: bool) -> Element:
        if entry:  # without the dots to its page
            lines = [line for part in paragraphs([*label, *lines], self.size) for line in part.lines]
            return self._item_element(Kind.LIST_ITEM, self._text(lines), lines, level)
        printed, text = self._text(label).strip(), self._text(lines)
        marker = _marker(f"{printed} {text or '-'}" if printed else text)
        all_lines = [*label, *lines]
        if marker is None or (printed and marker.text != printed):
            whole = " ".join(filter(None, (printed, text)))
            return self._item_element(Kind.LIST_ITEM, whole, all_lines, level)
        kind = {Marking.CHECKED: Kind.CHECKED, Marking.UNCHECKED: Kind.UNCHECKED}.get(marker.style, Kind.LIST_ITEM)
        element = self._item_element(kind, marker.rest.strip() if text else "", all_lines, level)
        element.marker, element.ordered = marker.text, marker.ordered
        return element

    def _item_element(self, kind: Kind, text: str, lines: Sequence[Line], level: int) -> Element:
        element = dress(Element(kind, text, bounds(line.box for line in lines)), lines)
        element.level = level
        return element

    def _figure(self, part: Told) -> Iterator[Element]:
        lines = part.all_lines()
        box = part.box or (bounds(line.box for line in lines) if lines else None)
        if box is not None and (part.alt or box.area >= SMALLEST * self._area):
            yield Element(Kind.PICTURE, box=box, alt=" ".join(part.alt.split()))
        for group in gathered(paragraphs(lines, self.size)):
            yield dress(Element(Kind.TEXT, self._text(group.lines), group.box), group.lines)

    def _table(self, part: Told) -> Iterator[Part]:
        """A table with what stands around it in the tree; the contents of its cells where it only lays out a page."""
        rows = [row for row in part.walk() if row.role is Role.ROW]
        lines = [line for row in rows for line in row.all_lines()]
        table = told_table(rows, self._text) if rows and not lays_out(rows) else None
        if table is None or not lines:
            for kid in part.walk():
                if kid is not part and kid.role in BLOCKS and kid.lines:
                    yield from self._part(Told(kid.role, kid.lines, level=kid.level))
                elif kid is not part and kid.lines:
                    yield from self._paragraphs(Told(Role.WORDS, kid.lines))
            return
        inside = {id(one) for row in rows for one in row.walk()}
        around = [one for one in part.walk() if one is not part and one.lines and id(one) not in inside]
        yield from (each for one in around for each in self._part(Told(one.role, one.lines, level=one.level)))
        yield Element(Kind.TABLE, box=bounds(line.box for line in lines), table=table)


def _free(part: Told) -> Iterator[Told]:
    """The parts of the tree that are in no list, table or other text."""
    yield part
    for kid in part.kids if part.role in (Role.GROUP, Role.WORDS, Role.PARAGRAPH) else ():
        yield from _free(kid)


def _gathered(part: Told) -> Told:
    """A heading or caption with the paragraphs and numbers in it as its own words."""
    inner = [kid for kid in part.kids if kid.role in (Role.WORDS, Role.PARAGRAPH, Role.LABEL)]
    lines = [*part.lines, *(line for kid in inner for line in kid.all_lines())]
    taken = set(map(id, inner))
    return replace(part, lines=lines, kids=[kid for kid in part.kids if id(kid) not in taken])


def _marker(text: str) -> Marker | None:
    """The mark that an item's text opens with, if it does: of "1.2 Sails" the mark is not "1."."""
    return next((one for one in markers_of(text) if one.sure or not one.rest[:1].isdigit()), None)
