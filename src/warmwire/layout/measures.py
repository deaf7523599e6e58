"""What a column of lines says of itself: its steps, its sizes, its margins, how its paragraphs are set apart.

Nothing here is compared with a fixed length. The usual step between lines is the one that most steps are near to, and
a wider one is wide when it lies beyond the gap in their distribution. Recognised sizes differ from line to line with
the letters in them, the file's own do not: how much neighbours differ tells which sizes mean something. A line ended
early when the first word of the next would still have found room before the margin that the lines around it share.
That also tells how paragraphs are set: where indented lines follow lines that ended early, indents open paragraphs;
where outdented ones do, the lines hang.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from warmwire.layout.page import Line
from warmwire.layout.rows import size_of

INDENT = 0.6
"""Left edges further apart than this, in units of the body, are different indents: recognised ones stray by 0.4."""
DEEP = 6.0
"""A line set in further than this is no first line, but stands elsewhere."""
REACH = 3
"""Lines above and below that share a line's margins."""
NEAR = 8
"""Lines above and below whose sizes even out that of a line."""
EXACT = 1.06
"""Sizes of one text in a file differ by less than this factor."""
STRAY = 3.0
"""... and recognised ones by this many times what neighbours usually differ by."""
ROUGHEST = 1.25
"""... but never by more than this factor."""
WIDE_STEP = 1.3
"""A step this many times the usual one is wide where the steps themselves do not say what is."""
GAP = 0.08
"""Usual and wide steps are this far apart, in units of the usual one; recognised usual ones lie closer together."""
LEAST_WIDE = 1.08
"""No step is wide that is not this many times the usual one: recognised baselines stray by 5 %."""
USUAL = 1.6
"""A lone step larger than this, where common leading ends, is wide: no other tells that it is usual."""
LOOSE = 2.0
"""Lines further apart, in units of their size, may be paragraphs as well as double-spaced ones: common leading ends at
1.6, double-spaced text begins at 2.3."""
SHARED = 3.0
"""Right edges this close, in units of the body, share a margin: ragged ones differ by a word, ..."""
RAGGED = 0.15
"""... and by no more than that share of their lines' width: a list of short lines has no margin."""

_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_ENDED = re.compile(r"[.!?:;…。！？；：][)\]”’\"'»›」』¹²³⁰-⁹*†‡]{0,4}$|[”\"»」』]$")


class Column:
    """The lines of a column from top to bottom, and what they say together; `size` is the page's body."""

    def __init__(self, rows: Sequence[Line], size: float) -> None:
        self.rows = rows
        self.size = size
        self._sizes = _smooth([size_of(row) for row in rows])
        self.roughness = _roughness(rows)
        """The factor by which sizes of one text may differ here."""
        steps = [self._step(i) for i in range(1, len(rows)) if _are_stacked(rows[i - 1], rows[i])]
        plain = [step for step in steps if 0.5 < step < 3.2]
        self.pitch = _pitch(plain) if plain else 1.5
        if len(plain) == 1:
            self.pitch = min(self.pitch, USUAL)
        """The usual step between lines, in units of their size."""
        self.wide, self.spaced = _wide([step / self.pitch for step in plain])
        """The step, in units of the usual one, from which lines are set apart; whether paragraphs are."""
        self.loose = self.pitch > LOOSE
        """Whether the usual step may part paragraphs as well as it may be that of double-spaced text."""
        rights = sorted(row.box.right for row in rows)
        self._margin = rights[-2] if len(rights) > 4 else -math.inf
        """The right margin of the whole column, but for its longest line."""
        self.early = [self._ends_early(i) for i in range(len(rows))]
        """Whether a line ended before its margin although the next word had room."""
        self.ended = [has_ended(row.text) for row in rows]
        self.hanging, self.indented = self._habits()
        """How often lines begin outdented, and how often indented, below one that ended early."""

    def _step(self, i: int) -> float:
        """From the line above to line `i`, in units of their size."""
        above, below = self.rows[i - 1].box, self.rows[i].box
        return (below.centre[1] - above.centre[1]) / max(min(self._sizes[i - 1], self._sizes[i]), 1e-6)

    def step(self, i: int) -> float:
        """From the line above to line `i`, in units of the usual step."""
        return self._step(i) / self.pitch

    def is_wide(self, i: int) -> bool:
        """Whether line `i` is set off from the one above: not where its step is usual for the full lines around."""
        step = self._step(i)
        if step <= self.wide * self.pitch:
            return False
        around = [self._step(j) for j in range(max(1, i - REACH), min(len(self.rows), i + REACH + 1)) if j != i]
        alike = sum(abs(other - step) < 0.05 * step for other in around)
        return self.early[i - 1] or 2 * alike <= len(around)

    def share(self, i: int) -> float:
        """How much of the width of the lines around line `i` takes."""
        around = self.rows[max(0, i - REACH) : i + REACH + 1]
        return self.rows[i].box.width / max(max(row.box.width for row in around), 1e-6)

    def shift(self, i: int) -> float:
        """How far line `i` begins right of the line above, in units of the body."""
        return (self.rows[i].box.left - self.rows[i - 1].box.left) / self.size

    def _ends_early(self, i: int) -> bool:
        if i + 1 >= len(self.rows):
            return True
        row, below = self.rows[i], self.rows[i + 1]
        around = [
            other.box
            for other in self.rows[max(0, i - REACH) : i + REACH + 1]
            if other.box.left <= row.box.right and row.box.left <= other.box.right
        ]
        rights = sorted(box.right for box in around)
        margin = rights[-2] if len(rights) > 4 else rights[-1]
        ragged = min(SHARED * self.size, RAGGED * (rights[-1] - min(box.left for box in around)))
        if sum(rights[-1] - right < ragged for right in rights) < 2:  # it is one line's own and no margin
            if self.loose:
                return True
            margin = max(margin, self._margin)
        lefts = sorted(box.left for box in around)
        room = margin - row.box.right
        inset = row.box.left - lefts[len(lefts) // 3]
        if inset > DEEP * self.size or (inset > self.size and abs(inset - room) < self.size):
            room += inset  # set in the middle, or to the right
        flush = sum(margin - right < 0.4 * self.size for right in rights) >= 0.6 * len(rights) > 2
        first = _first_width(below)
        return room > (min(first, 0.8 * self.size) if flush else first + 0.5 * self.size)

    def _habits(self) -> tuple[int, int]:
        hanging = indented = 0
        for i in range(1, len(self.rows) - 1):
            shift, back = self.shift(i), self.shift(i + 1)
            if not (self.early[i - 1] or self.ended[i - 1]) or not 0.5 < self.step(i) < 1.8:
                continue
            if INDENT < shift < DEEP and abs(shift + back) < INDENT and not self.early[i]:
                indented += 1
            elif -DEEP < shift < -INDENT and abs(shift + back) < INDENT and not self.early[i]:
                hanging += 1
        return hanging, indented


def _are_stacked(above: Line, below: Line) -> bool:
    """Whether one line stands under the other by most of the shorter one, so that their step means something."""
    shared = min(above.box.right, below.box.right) - max(above.box.left, below.box.left)
    return shared > 0.5 * min(above.box.width, below.box.width) and min(len(above.text), len(below.text)) > 3


def has_ended(text: str) -> bool:
    """Whether a line ends as sentences do."""
    return _ENDED.search(text.rstrip()[-8:]) is not None


def is_capital(text: str) -> bool:
    """Whether a text is set in capitals throughout."""
    return text.isupper() and sum(char.isupper() for char in text) >= 4


def _first_width(line: Line) -> float:
    """About the width of a line's first word and the space before it."""
    text = line.text.lstrip()
    letters = 1 if _CJK.match(text) else len(text.split(maxsplit=1)[0]) + 1 if text else 0
    return letters * line.box.width / max(len(text), 1)


def _smooth(sizes: Sequence[float]) -> list[float]:
    """Sizes with those of one run evened out: each the median of its near neighbours that are about as large."""
    return [
        median(
            other
            for other in sizes[max(0, i - NEAR) : i + NEAR + 1]
            if size / 1.2 < other < size * 1.2 or other == size
        )
        for i, size in enumerate(sizes)
    ]


def _roughness(rows: Sequence[Line]) -> float:
    long = [size_of(row) for row in rows if len(row.text) > 12]
    differences = [abs(math.log(above / below)) for above, below in pairwise(long) if above > 0 and below > 0]
    return min(max(EXACT, math.exp(STRAY * median(differences))), ROUGHEST) if differences else EXACT


def _pitch(steps: Sequence[float]) -> float:
    """The usual step: where most are near to each other, or the least of several such places that many share."""
    ordered = sorted(steps)
    places: list[tuple[int, float]] = []  # how many steps are at most a tenth larger than one, and their median
    end = 0
    for start, step in enumerate(ordered):
        while end < len(ordered) and ordered[end] <= 1.1 * step:
            end += 1
        places.append((end - start, median(ordered[start:end])))
    most = max(count for count, _ in places)
    shared = [(count, middle) for count, middle in places if count >= max(0.3 * most, min(2, most))]
    least = shared[0][1]
    return max((place for place in shared if place[1] <= 1.1 * least), key=lambda place: place[0])[1]


def _wide(steps: Sequence[float]) -> tuple[float, bool]:
    """The step from which lines are set apart: in the first gap above the usual steps; whether several steps are."""
    ordered = sorted(step for step in steps if 0.8 < step < 2.4)
    for place, (below, above) in enumerate(pairwise(ordered), 1):
        if above - below > GAP and below < WIDE_STEP and above > LEAST_WIDE:
            return max(LEAST_WIDE, min((below + above) / 2, WIDE_STEP)), place > 2 and len(ordered) - place > 1
    return WIDE_STEP, False
