"""Pages that are read from right to left, seen in a mirror.

Columns, indents, list markers and lines that end early are all told by their sides. On a page of Hebrew or Arabic the
sides are exchanged, and nothing else: in a mirror the same rules hold. Only places are mirrored, never a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from warmwire.layout.page import Box, Line

Mirror = Callable[[Box], Box]

_LEFTWARD = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
"""Letters of scripts that are written from right to left."""


def is_leftward(lines: Sequence[Line]) -> bool:
    """Whether most of a page's letters are read from right to left."""
    text = "".join(line.text for line in lines)
    letters = sum(char.isalpha() for char in text)
    return letters > 0 and 2 * len(_LEFTWARD.findall(text)) > letters


def mirror_of(width: float) -> Mirror:
    """What exchanges the sides of a page of that width; done twice, it changes nothing."""
    return lambda box: Box(width - box.right, box.top, width - box.left, box.bottom)


def unchanged(box: Box) -> Box:
    """The mirror of a page that is read from left to right."""
    return box


def mirrored(line: Line, mirror: Mirror) -> Line:
    """A line in the mirror; where its words stand on the page, its run still says as it is."""
    return replace(line, box=mirror(line.box), angle=-line.angle)
