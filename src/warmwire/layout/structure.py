"""From the lines of a page to its elements in reading order.

Running heads and feet go first, then ruled tables, whose text would mislead everything after. The rest is cut into
columns, columns into paragraphs, and these are told apart: headings, list items, captions, footnotes, text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby

from warmwire.layout.blocks.hyphens import Vocabulary, join_lines
from warmwire.layout.blocks.kinds import Part, blocks
from warmwire.layout.blocks.leaders import with_leaders
from warmwire.layout.blocks.listings import with_listings
from warmwire.layout.blocks.paragraphs import Paragraph, gathered, paragraphs
from warmwire.layout.blocks.rings import with_rings
from warmwire.layout.guard import StageGuard
from warmwire.layout.looks import dress
from warmwire.layout.order.columns import columns
from warmwire.layout.order.floats import Item
from warmwire.layout.order.furniture import Furniture, furniture
from warmwire.layout.order.neighbours import neighbour_lines
from warmwire.layout.order.turned import apart_elements, level_lines
from warmwire.layout.page import Box, Element, Kind, Line
from warmwire.layout.rows import body_size
from warmwire.layout.sane import sane_boxes, sane_lines
from warmwire.layout.splits import split_at_rules
from warmwire.layout.tables.alignment import aligned_table
from warmwire.layout.tables.bands import banded_tables
from warmwire.layout.tables.found import FoundTable
from warmwire.layout.tables.gaps import split_rows
from warmwire.layout.tables.grids import grid_tables

MAX_PICTURE_TEXT = 0.25
"""A figure with more of its area under text is no picture but the ground of the text."""

FLUSH = 0.5
"""Lines begin at one edge when they do so this close to it, in units of the body: labels in a drawing stand inside."""

MIN_PROSE = 60
"""Letters outside of tables from which these, and not all, tell the size of the body: tables are often set smaller."""


def structure(
    lines: Sequence[Line],
    width: float,
    height: float,
    *,
    figures: Sequence[Box] = (),
    rules: Sequence[Box] = (),
    skipped: list[str] | None = None,
) -> list[Element]:
    """Give the page's elements in reading order; every word of `lines` is in exactly one of them.

    `figures` are places that may be pictures: the file's own, or what ink there is besides text. `rules` are ruling
    lines: thin boxes, one per straight stroke (the sides of a drawn rectangle count each). All lengths are in one unit,
    the origin is the top left corner.

    Never raises for what the page holds: a stage that fails is left out where it failed, its text stays as plain
    paragraphs, and its name is put into `skipped`.
    """
    guard = StageGuard([] if skipped is None else skipped)
    lines, stray = sane_lines(lines)
    figures, rules = sane_boxes(figures), sane_boxes(rules)
    whole = lines
    lines = flow = guard.run("cells' borders", lambda: split_at_rules(whole, rules), lambda: whole)
    beside: list[Line] = guard.run("neighbours", lambda: neighbour_lines(flow, width, body_size(flow)), list)
    lines, flow = _without(lines, beside), _without(flow, beside)
    size = body_size(level_lines(lines)[0])
    flow, counted = _recognised(flow, size, guard)
    beside += counted
    ruled: list[FoundTable] = guard.run("ruled tables", lambda: grid_tables(flow, rules, size), list)
    flow = _without(flow, [line for table in ruled for line in table.used])
    rest = flow
    led = guard.run("contents", lambda: with_leaders(rest, size), lambda: rest)
    flow = guard.run("cells in lines", lambda: split_rows(led), lambda: led)
    banded: list[FoundTable] = guard.run("banded tables", lambda: banded_tables(flow, rules, size), list)
    flow = _without(flow, [line for table in banded for line in table.used])
    tables = [*ruled, *banded]
    level, turned = level_lines(flow)
    page = guard.run(
        "furniture",
        lambda: furniture(level, height, size, rules, _boxes_of(tables)),
        lambda: Furniture([], [], level),
    )
    pictures: list[Box] = guard.run(
        "pictures", lambda: _pictures(figures, page.text, tables, width * height, size), list
    )
    labels = {id(line): picture for picture in pictures for line in page.text if _inside(line.box, picture)}
    items: list[Item] = [line for line in page.text if id(line) not in labels]
    items += [table.element for table in tables]
    items += [Element(Kind.PICTURE, box=picture) for picture in pictures]
    bars = [rule for rule in rules if rule.width > 10 * max(rule.height, size)]
    order = guard.run("columns", lambda: columns(items, size, bars), lambda: [sorted(items, key=_top)])
    parts = [
        part
        for column in order
        for part in guard.run("paragraphs", partial(_parts, column, size), partial(_plain_parts, column))
    ]
    prose = [line for part in parts if isinstance(part, Paragraph) for line in part.lines]
    if sum(len(line.text) for line in prose) >= MIN_PROSE:
        size = max(size, body_size(prose))  # smaller prose than all else is small print
    words = Vocabulary.of(line.text for line in lines)
    body = guard.run(
        "blocks",
        lambda: blocks(parts, height, size, rules, words),
        lambda: [_plain(part) for part in parts],
    )
    forms = {id(table.element): table.boxes for table in tables if table.boxes}
    body = [box for element in body for box in forms.get(id(element), (element,))]
    inner = [line for line in page.text if id(line) in labels]
    foot, apart = apart_elements(turned, width, height, size)
    return [
        *_furniture(page.head, Kind.PAGE_HEADER),
        *_with_labels(body, inner, labels, size, guard),
        *apart,
        *(Element(Kind.TEXT, line.text.strip()) for line in stray),
        *_furniture(page.foot, Kind.PAGE_FOOTER),
        *_furniture(beside, Kind.PAGE_FOOTER),
        *foot,
    ]


def _recognised(lines: list[Line], size: float, guard: StageGuard) -> tuple[list[Line], list[Line]]:
    """Lines of a scan with its bullets and its code told, and the numbers beside the code."""
    marked = guard.run("bullets", lambda: with_rings(lines, size), lambda: lines)
    return guard.run("listings", lambda: with_listings(marked, size), lambda: (marked, []))


def _boxes_of(tables: Sequence[FoundTable]) -> list[Box]:
    return [table.element.box for table in tables if table.element.box is not None]


def _top(item: Item) -> float:
    return item.box.centre[1] if item.box is not None else 0.0


def _without(lines: Sequence[Line], used: Iterable[Line]) -> list[Line]:
    taken = {id(line) for line in used}
    return [line for line in lines if id(line) not in taken]


def _inside(box: Box, outer: Box) -> bool:
    return box.intersection(outer) >= 0.6 * box.area


def _furniture(lines: Sequence[Line], kind: Kind) -> list[Element]:
    return [dress(Element(kind, line.text.strip(), line.box), [line]) for line in lines]


def _pictures(
    figures: Sequence[Box], lines: Sequence[Line], tables: Sequence[FoundTable], area: float, size: float
) -> list[Box]:
    """Figures that are pictures: hardly covered by text, no table, and each only once; `area` is the page's."""
    pictures: list[Box] = []
    taken = _boxes_of(tables)
    for box in figures:
        if box.area <= 0 or box.area > 0.9 * area:
            continue
        text = sum(line.box.intersection(box) for line in lines)
        clash = any(box.intersection(other) > 0.3 * min(box.area, other.area) for other in (*taken, *pictures))
        if text < MAX_PICTURE_TEXT * box.area and not clash and not _is_text(box, lines, size):
            pictures.append(box)
    return pictures


def _is_text(figure: Box, lines: Sequence[Line], size: float) -> bool:
    """Whether a figure is the page itself, as in a photo of a sheet on a table, or a table on a tinted ground; or
    traces of the other side around lines that begin where most of the page's text does."""
    inside = [line for line in lines if _inside(line.box, figure)]
    flush = [line for line in inside if abs(line.box.left - figure.left) < FLUSH * size]
    if 2 * len(flush) > len(inside):
        margin = sum(abs(line.box.left - figure.left) < FLUSH * size for line in lines)
        return 2 * margin > len(lines)
    if len(inside) < 5:
        return False
    if 2 * sum(len(line.text) for line in inside) > sum(len(line.text) for line in lines):
        return True
    table = aligned_table(inside, size)
    return table is not None and len(table.used) >= 0.8 * len(inside) and _rows(table) > 2


def _rows(found: FoundTable) -> int:
    return found.element.table.rows if found.element.table is not None else 0


def _parts(column: Sequence[Item], size: float) -> list[Part]:
    """A column's paragraphs and, between them, its tables and pictures."""
    parts: list[Part] = []
    for is_line, items in groupby(column, key=lambda item: isinstance(item, Line)):
        if is_line:
            parts += paragraphs([item for item in items if isinstance(item, Line)], size)
        else:
            parts += [item for item in items if isinstance(item, Element)]
    return parts


def _each(lines: Sequence[Line]) -> list[Paragraph]:
    return [Paragraph([line]) for line in lines]


def _plain_parts(column: Sequence[Item]) -> list[Part]:
    """A column whose paragraphs cannot be told: each line for itself."""
    return [Paragraph([item]) if isinstance(item, Line) else item for item in column]


def _plain(part: Part) -> Element:
    """A part that cannot be classified, as text."""
    return (
        Element(Kind.TEXT, join_lines(line.text for line in part.lines), part.box)
        if isinstance(part, Paragraph)
        else part
    )


def _with_labels(
    body: Sequence[Element], inner: Sequence[Line], labels: dict[int, Box], size: float, guard: StageGuard
) -> Iterator[Element]:
    """Each picture followed by the text inside it."""
    for element in body:
        yield element
        if element.kind is Kind.PICTURE:
            own = [line for line in inner if labels[id(line)] is element.box]
            found = guard.run("paragraphs", partial(paragraphs, own, size), partial(_each, own))
            for group in gathered(found):
                text = join_lines(line.text for line in group.lines)
                yield dress(Element(Kind.TEXT, text, group.box), group.lines)
