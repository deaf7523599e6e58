"""Lines in a typewriter font to a piece of code: every line its own, indented as it stands on the page.

A listing has empty lines, which part it as white parts paragraphs: what follows each other in a typewriter font, in one
size and no further apart than an empty line or two, is one listing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from warmwire.layout.blocks.paragraphs import Paragraph
from warmwire.layout.page import Element, Line

EMPTY = 2.6
"""Lines of one listing are no further apart than this, in units of their size: common leading and an empty line."""
MOST_EMPTY = 3
"""Empty lines that are kept in a row."""


def joined_code(parts: Iterable[Paragraph | Element]) -> list[Paragraph | Element]:
    """The parts of a page, those of each listing as one."""
    found: list[Paragraph | Element] = []
    for part in parts:
        above = found[-1] if found else None
        if isinstance(part, Paragraph) and isinstance(above, Paragraph) and _is_one(above, part):
            found[-1] = Paragraph([*above.lines, *part.lines])
        else:
            found.append(part)
    return found


def _is_one(above: Paragraph, part: Paragraph) -> bool:
    if not all(line.mono for one in (above, part) for line in one.lines) or above.marker or part.marker:
        return False
    size, box, other = part.size, above.box, part.box
    alike = abs(above.size - size) < 0.05 * size and above.bold == part.bold
    beside = box.left < other.right and other.left < box.right
    return alike and beside and 0 <= other.top - box.bottom < EMPTY * size


def code_text(lines: Sequence[Line]) -> str:
    """The lines, from top to bottom, each behind as many spaces as letters would fit before it."""
    letter = median(line.box.width / max(len(line.text), 1) for line in lines) or 1.0
    margin = min(line.box.left for line in lines)
    steps = [below.box.centre[1] - above.box.centre[1] for above, below in pairwise(lines)]
    height = median(line.box.height for line in lines)
    usual = min((step for step in steps if step > 0.6 * height), default=1.0)
    written = []
    for line, step in zip(lines, [0.0, *steps], strict=True):
        written += [""] * min(max(round(step / usual) - 1, 0), MOST_EMPTY)
        written.append(" " * round((line.box.left - margin) / letter) + line.text)
    return "\n".join(written)
