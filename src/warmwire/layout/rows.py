"""Runs of text to rows, and rows to whole lines.

A recogniser cuts a printed line wherever there is a wide gap: a list marker stands alone, a label is apart from
its value. Runs on one baseline make a row; near neighbours in a row make a line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from warmwire.layout.page import Box, Line

SAME_ROW = 0.5
"""Lines of one row differ by less than this share of their height from their neighbour in it, ..."""
MAX_DRIFT = 0.9
"""... and by less than this from any line of it: 0.3 degrees are a third of a height over a wide table."""
MARK_HEIGHT = 0.9
"""A line's height is at least this share of its font size, however low its ink."""
NEAR_ROWS = 3
"""A line belongs to one of the rows last begun, where it belongs to any."""

_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_DOTS = ".·…‥_"
SIGNS = frozenset("$€£¥")
"""Signs of money, which stand apart from their amounts where these are set flush right."""
_PERIOD = re.compile(r"(?:FY|Q[1-4]|H[12])?[\s-]*(?:19|20)\d\d(?:\s?[/–-]\s?\d{2,4})?\s?[a-zA-Z*†]?(?:\s?\(?\d\))?")
_DETAIL = re.compile(
    r"([^\W\d_][^\d,;.]{2,24}[^\W\d_])[.:]?\s+(?:[A-Z]{1,3}[\s-]?)?\d[\w\s./-]{0,20}$|([^\W\d_][^:\d]{1,24}):\s+\S"
)
_VALUE = re.compile(r"[\d.,:;/%€$£¥()+\-–−\s]")


def size_of(line: Line) -> float:
    """The line's font size, or its box's height where it has none; never nothing, for it divides lengths."""
    return max(line.size or line.box.height, 1e-3)


def body_size(lines: Iterable[Line]) -> float:
    """The size most letters of the page are set in; 1 for a page without text."""
    sizes = sorted((size_of(line), len(line.text)) for line in lines)
    half = sum(count for _, count in sizes) / 2
    for size, count in sizes:
        half -= count
        if half <= 0:
            return max(size, 1e-6)
    return 1.0


def bounds(boxes: Iterable[Box]) -> Box:
    """The smallest box around `boxes`, of which there is at least one."""
    first, *others = boxes
    if not others:
        return first
    left, top, right, bottom = first.left, first.top, first.right, first.bottom
    for box in others:  # by hand: this is asked a thousand times a page
        left = box.left if box.left < left else left
        top = box.top if box.top < top else top
        right = box.right if box.right > right else right
        bottom = box.bottom if box.bottom > bottom else bottom
    return Box(left, top, right, bottom)


def same_row(one: Box, other: Box) -> bool:
    """Whether two boxes stand on one baseline: their centres differ by less than half the lower one's height."""
    return abs(one.centre[1] - other.centre[1]) < 0.5 * min(one.height, other.height)


def rows_of(lines: Iterable[Line]) -> list[list[Line]]:
    """Rows from top to bottom, each from left to right.

    A row of a scan that lies a little askew drifts down the page by up to the height of its letters: what a line
    stands beside is told by its nearest neighbour in the row.
    """
    rows: list[list[_Place]] = []
    for place in sorted(map(_place, lines), key=lambda place: place.middle):
        steps = [(_step(place, row), row) for row in rows[: -NEAR_ROWS - 1 : -1]]
        step, row = min(steps, key=lambda pair: pair[0], default=(math.inf, []))
        if step < SAME_ROW and not any(_overlap(place.line.box, other.line.box) > 0.3 for other in row):
            row.append(place)
        else:
            rows.append([place])
    return [[place.line for place in sorted(row, key=lambda place: place.left)] for row in rows]


class _Place(NamedTuple):
    """Where a line stands. Its height is no less than its font asks for: a dash is as high as its font."""

    line: Line
    left: float
    right: float
    middle: float
    height: float


def _place(line: Line) -> _Place:
    box = line.box
    height = max(box.bottom - box.top, MARK_HEIGHT * line.size, 1e-6)
    return _Place(line, box.left, box.right, (box.top + box.bottom) / 2, height)


def _step(place: _Place, row: Sequence[_Place]) -> float:
    """How far below its nearest neighbour in `row` a line stands, in the lower one's heights; infinite where another
    of the row is further up than a row may drift. The first of a row is the highest one: mostly it tells at once."""
    _, left, right, middle, height = place
    nearest, step = math.inf, math.inf
    for _, other_left, other_right, other_middle, other_height in row:
        drop = (middle - other_middle) / min(height, other_height)
        if drop > MAX_DRIFT:
            return math.inf
        gap = max(left - other_right, other_left - right)
        if gap < nearest:
            nearest, step = gap, drop
    return step


def _overlap(one: Box, other: Box) -> float:
    """Shared width, as a share of the narrower box."""
    shared = min(one.right, other.right) - max(one.left, other.left)
    return shared / max(min(one.width, other.width), 1e-6)


def join_runs(runs: Sequence[Line]) -> Line:
    """One line of several runs, left to right."""
    if len(runs) == 1:
        return runs[0]
    longest = max(runs, key=lambda run: len(run.text))
    letters = sum(len(run.text) for run in runs) or 1
    return replace(
        longest,
        box=bounds(run.box for run in runs),
        text=join_words(run.text for run in runs),
        confidence=sum(run.confidence * len(run.text) for run in runs) / letters,
        bold=None if any(run.bold is None for run in runs) else all(run.bold for run in runs),
    )


def join_signs(lines: Sequence[Line]) -> list[Line]:
    """Lines with a sign of money that stands alone joined to the amount it belongs to."""
    signs = [line for line in lines if line.text.strip() in SIGNS]
    if not signs:
        return list(lines)
    taken = {id(sign) for sign in signs}
    joined = []
    for row in rows_of(lines):
        for i, line in enumerate(row):
            before = row[i - 1] if i else None
            if before is not None and id(before) in taken and is_value(line.text):
                joined.append(join_runs([before, line]))
            elif id(line) not in taken or i + 1 == len(row) or not is_value(row[i + 1].text):
                joined.append(line)
    return joined


def join_words(texts: Iterable[str]) -> str:
    """Pieces of one text with a space between, but none between Chinese or Japanese letters."""
    joined = ""
    for text in texts:
        tight = joined and text and _CJK.match(joined[-1]) and _CJK.match(text[0])
        joined += text if tight or not joined else f" {text}"
    return joined


def is_value(text: str) -> bool:
    """Whether `text` is a number, an amount, a date or a code rather than words: at least half is figures."""
    digits = sum(char.isdigit() for char in text)
    return digits > 0 and digits + len(_VALUE.findall(re.sub(r"\d", "", text))) >= 0.5 * len(text)


def is_square(text: str) -> bool:
    """Whether most letters of a text are Chinese or Japanese ones, each of which fills a square."""
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(_CJK.match(char) is not None for char in letters) > len(letters)


def is_period(text: str) -> bool:
    """Whether `text` is a year, as heads of figures are: "2024", "2025e", "FY 2024", "2023/24"."""
    return _PERIOD.fullmatch(text.strip()) is not None


def is_label(text: str) -> bool:
    """Whether `text` points at what stands beside it: it ends in a colon or in leader dots, and is no mark alone."""
    points = text.rstrip().endswith((":", "：")) or without_leader(text) != text
    return points and any(map(str.isalnum, text))


def are_details(texts: Sequence[str]) -> bool:
    """Whether each of some texts is a label and its value in one, and each another: "Account 83210043", "Date: 4 May".
    Nothing that stands beside such is their label."""
    named = [(match[1] or match[2]).casefold() for text in texts if (match := _DETAIL.match(text.strip()))]
    return len(texts) > 1 and len(named) == len(texts) == len(set(named))


def without_leader(text: str) -> str:
    """`text` without the dots that lead to a page number: two at least, in time that grows with the text alone."""
    bare = text.rstrip(f"{_DOTS} \t\n")
    return bare if sum(char in _DOTS for char in text[len(bare) :]) > 1 else text


MIN_RUN = 5
"""So many lines that follow each other evenly are text that runs on; cells of a table wrap to two or three."""


def reads_on(lines: Sequence[Line]) -> bool:
    """Whether lines of one column, from top to bottom, are sentences that go on from line to line.

    Lines of a text begin in the middle of a sentence, mostly with a small letter, and follow each other evenly. What
    stands in cells begins anew in each, or wraps once or twice.
    """
    run, small, words, best = 1, 0, 0, 0
    for above, below in pairwise(lines):
        step = below.box.centre[1] - above.box.centre[1]
        if not 0 < step < 1.9 * size_of(above):
            run, small, words = 1, 0, 0
            continue
        run += 1
        small += below.text.lstrip()[:1].islower()
        words += below.text.count(" ") + 1
        if run >= MIN_RUN and small >= 0.35 * (run - 1) and words >= 3.5 * (run - 1):
            best = max(best, run)
    return best >= MIN_RUN


def is_prose(lines: Sequence[Line]) -> bool:
    """Whether lines of one column run on as text does: long, and mostly of one width."""
    if len(lines) < 2:
        return False
    widest = max(line.box.width for line in lines)
    long = median(len(line.text) * (2 if _CJK.search(line.text) else 1) for line in lines) >= 22
    return long and median(line.box.width for line in lines) >= 0.75 * widest
