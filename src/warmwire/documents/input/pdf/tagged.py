"""What the structure tree of a tagged PDF page says of the page's characters.

The tree names pieces of marked content, and characters know which piece they belong to. Its elements are the parts of
`layout.told`, each with the lines of its own characters; what only marks words inside a text, such as links, is not
one. Whether to believe it is not asked here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from warmwire.documents.input.pdf.chars import Characters
from warmwire.documents.input.pdf.frame import PdfFrame
from warmwire.documents.input.pdf.lines import Letters
from warmwire.documents.input.pdf.marks import ARTIFACT
from warmwire.documents.input.pdf.objects import Drawn
from warmwire.documents.input.pdf.paths import clip
from warmwire.documents.input.pdf.tree import Node
from warmwire.layout.page import Box, Line
from warmwire.layout.rows import bounds
from warmwire.layout.told.elements import Role, Told, ToldPage

LONGEST: Final = 200
"""Letters of a heading."""
MOST_LETTERS: Final = 0.3
"""Share of a page's letters from which its headings are no such."""

_HEADING: Final = re.compile(r"H([1-9])")
_ROLES: Final = {
    "P": Role.PARAGRAPH, "Title": Role.TITLE, "H": Role.HEADING, "Caption": Role.CAPTION, "Note": Role.NOTE,
    "FENote": Role.NOTE, "Code": Role.CODE, "Formula": Role.FORMULA, "Figure": Role.FIGURE, "L": Role.LIST,
    "LI": Role.ITEM, "Lbl": Role.LABEL, "TOC": Role.LIST, "TOCI": Role.ENTRY, "BibEntry": Role.PARAGRAPH,
    "Table": Role.TABLE, "TR": Role.ROW, "TH": Role.HEAD, "TD": Role.CELL,
}  # fmt: skip
"""What the standard elements are; others are groups, or mark words inside of texts where they hold none of these."""

_PARTING: Final = frozenset(
    {"Document", "DocumentFragment", "Part", "Art", "Sect", "Div", "Aside", "BlockQuote", "Index", "LBody"}
)
"""Elements that hold no words of the text around them even where they hold nothing but words."""

_TEXTS: Final = (Role.PARAGRAPH, Role.TITLE, Role.HEADING, Role.CAPTION)
_INSIDE: Final = (Role.LABEL, Role.CODE, Role.FORMULA)
"""What is words of a text where it stands in one."""
_FLOATING: Final = (Role.NOTE, Role.FIGURE)
"""What may be tied to a word in a text and stands elsewhere."""


def named_headings(tree: Node, chars: Characters) -> list[tuple[int, str]]:
    """Level and text of the headings that a tree names; none where it calls most of the page a heading."""
    places = _by_mark(chars, range(len(chars)))
    found = []
    waiting: list[Node | int | None] = [tree]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Node):
            continue
        if (match := _HEADING.fullmatch(node.kind)) is None:
            waiting += reversed(node.kids)
            continue
        members = [at for mark in dict.fromkeys(node.marks()) for at in places.get(mark, ())]
        text = "".join((" " if chars.spaces[at] else "") + chars.texts[at] for at in members)
        found.append((int(match[1]), " ".join(text.split())))
    if sum(len(text) for _, text in found) > MOST_LETTERS * len(chars):
        return []
    return [(level, text) for level, text in found if 0 < len(text) <= LONGEST]


def _by_mark(chars: Characters, members: Iterable[int]) -> dict[int, list[int]]:
    """Some characters by the marked content they belong to."""
    look_of = chars.look_of.tolist()
    found: dict[int, list[int]] = defaultdict(list)
    for at in members:
        found[chars.looks[look_of[at]].mark].append(at)
    return found


def told_page(tree: Node, letters: Letters, drawn: Drawn, *, seen: bool = True) -> ToldPage:
    """A page as its tree has it: what is seen of it, or the text that lies unseen over a scan."""
    return _Teller(letters, drawn, seen).tell(tree)


class _Teller:
    """Turns the elements of one page's tree into parts with their lines."""

    def __init__(self, letters: Letters, drawn: Drawn, seen: bool) -> None:
        self._letters = letters
        self._seen = seen
        self._content = _by_mark(letters.chars, letters.groups.get((seen, 0), np.zeros(0, dtype=np.intp)).tolist())
        self._images: dict[int, list[Box]] = defaultdict(list)
        for mark, box in zip(drawn.marks, drawn.images, strict=True):
            self._images[mark].append(box)
        self._used: set[int] = set()
        """The content that has been told."""
        self._repeated = 0

    def tell(self, tree: Node) -> ToldPage:
        root = Told(Role.GROUP, kids=self._parts(tree))
        artifacts = self._content.get(ARTIFACT, [])
        told = {at for mark in self._used for at in self._content.get(mark, ())}
        pictures = [
            box for mark, boxes in self._images.items() if mark not in self._used and mark != ARTIFACT for box in boxes
        ]
        return ToldPage(
            root,
            self._letters.lines_of(artifacts),
            self._letters.lines_without(told.union(artifacts), seen=self._seen),
            pictures,
            len(self._used) + self._repeated,
            self._repeated,
        )

    def _parts(self, node: Node) -> list[Told]:
        """The parts under an element. Neighbouring pieces of content that no element holds are one text."""
        found: list[Told] = []
        words: list[int] = []
        floats: list[Node] = []
        inside = _role(node) in _TEXTS

        def end_words() -> None:
            if lines := self._lines(words):
                found.append(Told(Role.WORDS, lines))
            found.extend(part for one in floats for part in self._part(one))
            words.clear()
            floats.clear()

        for kid in node.kids:
            if isinstance(kid, int):
                words.append(kid)
            elif kid is None:
                if node.kind == "TR":
                    found.append(Told(Role.CELL))
            elif _is_words(kid, inside):
                words += _words(kid, floats)
            elif inside and _role(kid) in _FLOATING:
                floats.append(kid)
            else:
                end_words()
                found += self._part(kid)
        end_words()
        return found

    def _part(self, node: Node) -> list[Told]:
        """An element as a part; as several where it is nothing itself. A paragraph that is code as a whole is code."""
        if _role(node) is Role.PARAGRAPH and len(node.kids) == 1:
            (kid,) = node.kids
            node = kid if isinstance(kid, Node) and _role(kid) is Role.CODE else node
        role, kids = _role(node), self._parts(node)
        if role is Role.GROUP:
            return kids
        part = Told(role, kids=kids, rowspan=node.rowspan, colspan=node.colspan, alt=node.alt)
        if kids and kids[0].role is Role.WORDS and role not in (Role.ITEM, Role.TABLE, Role.ROW, Role.LIST):
            part.lines, part.kids = kids[0].lines, kids[1:]
        if role is Role.HEADING:
            match = _HEADING.fullmatch(node.kind)
            part.level = int(match[1]) if match is not None else 0
        if role is Role.FIGURE:
            part.box = self._place(node)
        return [part]

    def _lines(self, marks: Sequence[int]) -> list[Line]:
        members: list[int] = []
        for mark in marks:
            self._repeated += mark in self._used
            if mark not in self._used:
                members += self._content.get(mark, ())
            self._used.add(mark)
        return self._letters.lines_in_order(members) if members else []

    def _place(self, node: Node) -> Box | None:
        """Where a figure stands: its pictures, or what the element itself says."""
        marks = list(node.marks())
        boxes = [box for mark in marks for box in self._images.get(mark, ())]
        self._used.update(marks)
        if boxes:
            return bounds(boxes)
        frame: PdfFrame = self._letters.frame
        return clip(frame.box(*node.box), frame) if node.box is not None else None


def _role(node: Node) -> Role:
    return Role.HEADING if _HEADING.fullmatch(node.kind) else _ROLES.get(node.kind, Role.GROUP)


def _is_words(node: Node, inside: bool) -> bool:
    """Whether an element marks nothing but words; `inside` says that it stands in a text."""
    role = _role(node)
    if node.kind in _PARTING or not (role is Role.GROUP or (inside and role in _INSIDE)):
        return False
    return all(_is_words(kid, True) or _role(kid) in _FLOATING for kid in node.kids if isinstance(kid, Node))


def _words(node: Node, floats: list[Node]) -> list[int]:
    """The content of an element of words; what floats in it is put into `floats`."""
    marks: list[int] = []
    for kid in node.kids:
        if isinstance(kid, int):
            marks.append(kid)
        elif isinstance(kid, Node):
            if _role(kid) in _FLOATING:
                floats.append(kid)
            else:
                marks += _words(kid, floats)
    return marks
