"""What stands across a gutter without parting the columns: pictures, tables, their captions, quotations set large.

Text does not end at a float, it runs on below it. So between two stretches of one gutter there are two readings: the
columns go on past what stands there, or all of them end above it and begin anew below. Each says which line follows
which, and the lines say how well they go together: a sentence left open wants a line that begins small, a closed one
wants a new beginning. What parts the columns is a heading, or anything at all where no sentence runs on.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from warmwire.layout.blocks.markers import opens_caption
from warmwire.layout.measures import INDENT, has_ended
from warmwire.layout.page import Box, Element, Line
from warmwire.layout.rows import bounds, is_prose, reads_on, same_row, size_of

Item = Line | Element
"""Something with a place: a line, or a whole element (a table, a picture) whose box is known."""

MARGIN = 1.5
"""Columns above and below a float begin at the same places but for this, in units of the body: an indent."""
ALIKE = 0.6
"""... and their widest lines are of one width but for this share: "(a)" and "(b)" under a picture are no columns."""
LARGE = 1.12
"""Type larger than that, in units of the body, is a heading's or a quotation's; recognised sizes stray by 0.08."""
SMALL = 0.93
"""Type smaller than that is a note's or a caption's."""
FEWEST = 6
"""Lines that make a column of text."""
MOST_PIECES = 12
"""A strip of white broken more often than that is no gutter, and no more is looked at."""
MOST_LINES = 12
"""Lines of the longest caption or quotation."""
LEADING = 1.45
"""Lines of one caption follow each other within that step, in units of their size."""
SURE = 0.5
"""How much better text alone must go together past a float of text, where nothing shows that it runs on."""


def box_of(item: Item) -> Box:
    if item.box is None:
        raise ValueError("an element without a box has no place in the reading order")
    return item.box


def is_set_apart(item: Item, size: float) -> bool:
    """Whether a line is larger than the body or bold, as headings are."""
    return isinstance(item, Line) and (size_of(item) > LARGE * size or bool(item.bold))


def is_text(items: Sequence[Item]) -> bool:
    """Whether half of one side of a gutter, and six lines of it, are long lines of one width, that of its columns."""
    lines = [item for item in items if isinstance(item, Line)]
    if len(lines) < FEWEST:
        return False
    width = sorted(line.box.width for line in lines)[int(0.9 * len(lines))]
    if reads_on(sorted(lines, key=lambda line: line.box.centre[1])):
        return True
    full = [line for line in lines if line.box.width > 0.7 * width]
    letters = sum(len(line.text) for line in lines)
    return len(full) >= FEWEST and is_prose(full) and 2 * sum(len(line.text) for line in full) > letters


class Stretch:
    """A part of the page that a gutter goes through, and its sides; `lifted` floats are left out of them."""

    def __init__(self, ordered: Sequence[Item], start: int, end: int, x: float, lifted: Sequence[Item] = ()) -> None:
        self.start, self.end, self.x = start, end, x
        self.lifted = list(lifted)
        known = {id(item) for item in lifted}
        items = [item for item in ordered[start:end] if id(item) not in known]
        self.left = [item for item in items if box_of(item).right <= x]
        self.right = [item for item in items if box_of(item).left >= x]


def joined(ordered: Sequence[Item], places: Sequence[tuple[int, int]], x: float, size: float) -> list[Stretch]:
    """The stretches of one gutter that go on past floats, each made of two or more of `places` (start and end).

    `ordered` are all items from top to bottom; the gutter ends at `x`.
    """
    found: list[Stretch] = []
    last: Stretch | None = None
    if len(places) > MOST_PIECES:
        return []
    for start, end in places:
        here = Stretch(ordered, start, end, x)
        if not here.left or not here.right:
            continue
        if last is None:
            last = here
            continue
        between = _float(ordered, last, here, size)
        if between is not None:
            last = Stretch(ordered, last.start, here.end, x, [*last.lifted, *between])
        elif _are_columns(last, here, size) or end - start > 2:
            last = _kept(last, found, here)
    if last is not None:
        _kept(last, found, last)
    return found


def _kept(last: Stretch, found: list[Stretch], following: Stretch) -> Stretch:
    if last.lifted:
        found.append(last)
    return following


def _float(ordered: Sequence[Item], above: Stretch, below: Stretch, size: float) -> list[Item] | None:
    """What stands between two stretches, if the columns run on past it; None if they end there."""
    if not _are_columns(above, below, size):
        return None
    if not is_text([*above.left, *below.left]) or not is_text([*above.right, *below.right]):
        return None
    between = list(ordered[above.end : below.start])
    heads = [_captions(side, between) for side in (below.left, below.right)]
    feet = [_names(side) for side in (above.left, above.right)]
    named = {id(item) for part in (*heads, *feet) for item in part}
    sides = [[item for item in side if id(item) not in named] for side in (above.left, above.right)]
    sides += [[item for item in side if id(item) not in named] for side in (below.left, below.right)]
    ends = [_text(side, size) for side in sides]
    words = [item for item in between if isinstance(item, Line)]
    if not between or not all(ends) or len(words) > MOST_LINES:
        return None
    captions = [*(item for part in feet for item in part), *(item for part in heads for item in part)]
    if len(words) == len(between):
        passes = _passes_text(ends, words, size)
    else:
        passes = _passes(ends, size) and not _heads_text(words, size)
    return [*captions, *between] if passes else None


def _are_columns(above: Stretch, below: Stretch, size: float) -> bool:
    """Whether the sides of two stretches are the same columns."""
    for one, other in ((above.left, below.left), (above.right, below.right)):
        first, second = bounds(map(box_of, one)), bounds(map(box_of, other))
        widths = sorted((first.width, second.width))
        if abs(first.left - second.left) > MARGIN * size or widths[0] < ALIKE * widths[1]:
            return False
    return True


def _captions(side: Sequence[Item], between: Sequence[Item]) -> list[Item]:
    """The lines of a caption that a side begins with although it names what stands over both sides."""
    named = [item for item in between if isinstance(item, Line)]
    opened = any(opens_caption(line.text) for line in named)
    found: list[Line] = []
    for item in side[:MOST_LINES]:
        last = found[-1] if found else named[-1] if opened else None
        if not isinstance(item, Line):
            break
        if last is None and not opens_caption(item.text):
            break
        if last is not None and item.box.centre[1] - last.box.centre[1] > LEADING * size_of(last):
            return list(found)
        found.append(item)
    rest = side[len(found)] if len(found) < len(side) else None
    apart = found and isinstance(rest, Line) and abs(size_of(rest) - size_of(found[0])) > (1 - SMALL) * size_of(rest)
    return list(found) if apart else []


def _names(side: Sequence[Item]) -> list[Item]:
    """The line or two of a caption that a side ends with."""
    first = next(
        (i for i in (1, 2) if isinstance(item := side[-min(i, len(side))], Line) and opens_caption(item.text)), 0
    )
    return list(side[-first:]) if first else []


def _text(side: Sequence[Item], size: float) -> list[Line]:
    """The lines of a side that are its text: of its usual size, no notes or headings."""
    lines = [item for item in side if isinstance(item, Line)]
    usual = median(map(size_of, lines)) if lines else size
    return [line for line in lines if SMALL * usual < size_of(line) < LARGE * usual]


def _passes(ends: Sequence[Sequence[Line]], size: float) -> bool:
    """Whether the columns go on past something that is no text: some sentence runs on, and that reading is as good."""
    upper_left, upper_right, lower_left, lower_right = ends
    on = [_join(upper_left, lower_left, size), _join(upper_right, lower_right, size)]
    opened = [not has_ended(upper[-1].text) for upper in (upper_left, upper_right)]
    if not any(left_open and join > -SURE for left_open, join in zip(opened, on, strict=True)):
        return False
    past = sum(on) + _join(lower_left, upper_right, size)
    ended = _join(upper_left, upper_right, size) + _join(upper_right, lower_left, size)
    return past >= ended + _join(lower_left, lower_right, size)


def _passes_text(ends: Sequence[Sequence[Line]], words: Sequence[Line], size: float) -> bool:
    """Whether the columns go on past a quotation, or anything that is text and belongs to none of them."""
    upper_left, upper_right, lower_left, lower_right = ends
    if any(opens_caption(line.text) for line in words[:1]):
        return _passes(ends, size)
    if not all(size_of(line) > LARGE * size for line in words):
        return False  # text of the page's own size over both columns is a part of it
    left, right = _join(upper_left, lower_left, size), _join(upper_right, lower_right, size)
    ended = _join(upper_left, upper_right, size) + _join(lower_left, lower_right, size)
    fresh = 0.5 * (1 - 2 * (not has_ended(upper_right[-1].text)) - 2 * _begins_small(lower_left[0]))
    past = left + right + _join(lower_left, upper_right, size)
    return past >= ended + fresh + SURE and max(left, right) == 1


def _heads_text(words: Sequence[Line], size: float) -> bool:
    """Whether there is a heading besides the float: lines that stand out and do not name it."""
    return any(is_set_apart(line, size) for line in words) and not any(opens_caption(line.text) for line in words)


def _join(above: Sequence[Line], below: Sequence[Line], size: float) -> float:
    """How well the first of some lines goes on with the last of others, from -1 to 1."""
    last, first = _last(above), _first(below)
    is_open = not has_ended(last.text)
    if _begins_small(first):
        return 1.0 if is_open else -1.0
    if not is_open:
        return 0.5
    second = below[1] if len(below) > 1 else first
    indented = first.box.left - second.box.left > INDENT * size and not same_row(first.box, second.box)
    letter = first.text.lstrip()[:1]
    if last.text.rstrip().endswith(("-", "\u00ad", "‐")) or indented:
        return -1.0
    return -0.25 if letter.isupper() else 0.0


def _begins_small(line: Line) -> bool:
    return line.text.lstrip()[:1].islower()


def _first(lines: Sequence[Line]) -> Line:
    return min((line for line in lines if same_row(line.box, lines[0].box)), key=lambda line: line.box.left)


def _last(lines: Sequence[Line]) -> Line:
    return max((line for line in lines if same_row(line.box, lines[-1].box)), key=lambda line: line.box.right)
