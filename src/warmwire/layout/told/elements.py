"""What a file says of its own structure: a page as a tree of headings, paragraphs, lists and tables.

Such a tree is the best witness of a page's order and of its tables there is, where it is sound. Many are not: they
were filled in by programs that knew nothing of the text, name each line or the whole page a paragraph, or have come
apart from the page they belong to. So a tree is held against the page first (`fault_of`), and left aside where it
leaves words out, tells them twice, or goes up the page where text runs down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from warmwire.layout.blocks.paragraphs import paragraphs
from warmwire.layout.page import Box, Line
from warmwire.layout.rows import body_size, bounds, rows_of

UNTOLD = 0.1
"""Share of a page's letters that a sound tree may leave out: page numbers, and what was laid over the page."""
REPEATED = 0.02
"""Share of its pieces that it may tell twice."""
AGAINST = 0.25
"""Share of its steps from text to text that may go up the page: columns and boxes beside the text make some."""
FURNITURE = 0.5
"""Share of a page's letters from which they are no running heads and ornaments, whatever the tree says."""
CROWDED = 0.33
"""Share of a page's letters in paragraphs that look like several, from which its paragraphs are none: 0 to 0.21 on
trees made by word processors and type setters, 0.44 to 1 on those that were guessed afterwards."""
BESIDE = 3
"""So many rows of paragraphs beside each other are a table that the tree does not know."""


class Role(StrEnum):
    """What a part of the tree is."""

    GROUP = "group"
    WORDS = "words"
    """Text that is named nothing in particular."""
    PARAGRAPH = "paragraph"
    TITLE = "title"
    HEADING = "heading"
    CAPTION = "caption"
    NOTE = "note"
    CODE = "code"
    FORMULA = "formula"
    FIGURE = "figure"
    LIST = "list"
    ITEM = "item"
    LABEL = "label"
    ENTRY = "entry"
    TABLE = "table"
    ROW = "row"
    HEAD = "head"
    CELL = "cell"


BLOCKS = (Role.WORDS, Role.PARAGRAPH, Role.TITLE, Role.HEADING, Role.CAPTION, Role.NOTE)
"""What is a text of its own, from its first line to its last."""


NAMED = (Role.PARAGRAPH, Role.HEADING, Role.TITLE)


@dataclass(slots=True)
class Told:
    """A part of a page as the tree has it: its own `lines`, in order, and then its parts.

    `level` is a heading's; a cell's spans are counted in rows and columns; `alt` says in words what a picture shows,
    and `box` where it stands.
    """

    role: Role
    lines: list[Line] = field(default_factory=list)
    kids: list[Told] = field(default_factory=list)
    level: int = 0
    rowspan: int = 1
    colspan: int = 1
    alt: str = ""
    box: Box | None = None

    def walk(self) -> Iterator[Told]:
        """This part and all under it, in order."""
        waiting = [self]
        while waiting:
            part = waiting.pop()
            yield part
            waiting += reversed(part.kids)

    def all_lines(self) -> list[Line]:
        return [line for part in self.walk() for line in part.lines]


@dataclass(slots=True)
class ToldPage:
    """A page's tree, and what it does not hold: text that is furniture by its own word (`artifacts`), text that it
    leaves out, pictures that it leaves out. `pieces` counts the contents it names, `repeated` those named again."""

    root: Told
    artifacts: list[Line] = field(default_factory=list)
    untold: list[Line] = field(default_factory=list)
    pictures: list[Box] = field(default_factory=list)
    pieces: int = 0
    repeated: int = 0


def fault_of(page: ToldPage) -> str:
    """Why a page's tree is not believed, in a few words; empty where it is."""
    told, untold, artifacts = (letters_in(lines) for lines in (page.root.all_lines(), page.untold, page.artifacts))
    if not told:
        return "it names no text"
    if untold > UNTOLD * (told + untold):
        return f"it leaves out {untold / (told + untold):.0%} of the text"
    if artifacts > FURNITURE * (told + untold + artifacts):
        return "it calls most of the page an ornament"
    if page.repeated > REPEATED * page.pieces:
        return "it names content twice"
    blocks = [part for part in page.root.walk() if part.lines]
    if _against(blocks) > AGAINST:
        return "its order is not that of the page"
    size = body_size(line for part in blocks for line in part.lines)
    crowded = sum(letters_in(part.lines) for part in blocks if part.role in NAMED and _is_crowded(part.lines, size))
    if crowded > CROWDED * told:
        return "its paragraphs are several each"
    if _beside(page.root) >= BESIDE:
        return "its paragraphs are cells of a table"
    return ""


def letters_in(lines: Sequence[Line]) -> int:
    """How many letters and figures there are; dots that lead to a number are none."""
    return sum(char.isalnum() for line in lines for char in line.text)


def _against(blocks: Sequence[Told]) -> float:
    """The share of the steps from one text to the next that go up within a column."""
    boxes = [bounds(line.box for line in part.lines) for part in blocks]
    up = sum(
        below.bottom <= above.centre[1] and below.right > above.left and above.right > below.left
        for above, below in pairwise(boxes)
    )
    return up / max(len(boxes) - 1, 4)


def _is_crowded(lines: Sequence[Line], size: float) -> bool:
    """Whether the lines of one paragraph look like those of several."""
    return len(lines) > 1 and len(paragraphs(lines, size)) > 1


def _beside(root: Told) -> int:
    """In how many rows paragraphs of a line stand beside each other, outside of tables."""
    lines = [part.lines[0] for part in _outside(root) if part.role in BLOCKS and len(part.lines) == 1]
    return sum(len(row) > 1 for row in rows_of(lines))


def _outside(part: Told) -> Iterator[Told]:
    """The parts of the tree that are in no table and no picture."""
    yield part
    for kid in part.kids:
        if kid.role not in (Role.TABLE, Role.FIGURE):
            yield from _outside(kid)
