"""Lists whose items have no marker: the entries of a table of contents, and those of an index.

An entry of contents ends in the number of a page, set apart; dots lead to it, or the numbers of entries below each
other do not fall. Most entries of an index end in numbers too, but these run on from the words; there are
many of them, all short.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from warmwire.layout.blocks.indexes import is_indexed
from warmwire.layout.blocks.paragraphs import Paragraph
from warmwire.layout.page import Element

FEWEST = 3
"""Entries of the shortest table of contents that is told from labels and values."""
RISING = 0.8
"""Share of its numbers that do not fall: recognised figures err."""
FEWEST_INDEXED = 8
"""Entries of the shortest index, ..."""
INDEXED = 0.5
"""... the share of them that end in numbers (others only head those below them) ..."""
SHORT = 120
"""... and the letters of the longest."""

_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?\s+[^\W\d_]")


def is_section(text: str) -> bool:
    """Whether a line opens with the number of a section."""
    return _SECTION.match(text) is not None


def find_entries(parts: Sequence[Paragraph | Element]) -> set[int]:
    """The ids of the paragraphs that are entries of contents or of an index."""
    found: set[int] = set()
    for run in _runs(parts):
        for group in _groups(run):
            if len(group) >= FEWEST and (_are_led(group) or _rises(group)):
                found |= {id(part) for part in group}
        found |= _indexed([part for part in run if id(part) not in found])
    return found


def _indexed(run: Sequence[Paragraph]) -> set[int]:
    short = [part for part in run if part.marker is None and sum(len(line.text) for line in part.lines) < SHORT]
    ended = [part for part in short if is_indexed(part.lines[-1].text)]
    if len(ended) < max(FEWEST_INDEXED, INDEXED * len(run)) or len(short) < 0.9 * len(run):
        return set()
    size = median(part.size for part in ended)
    known = {id(part) for part in ended}
    heads = [part for part in short if part.size < 1.08 * size and not part.bold and _is_open(part)]
    return known | {id(part) for part in heads}


def _is_open(part: Paragraph) -> bool:
    """Whether a paragraph may be the head of the entries below it, rather than a letter of the alphabet."""
    return len(part.lines[0].text) > 3


def _runs(parts: Sequence[Paragraph | Element]) -> Iterator[list[Paragraph]]:
    """The paragraphs that follow each other without a table or a picture between."""
    run: list[Paragraph] = []
    for part in parts:
        if isinstance(part, Paragraph):
            run.append(part)
        else:
            yield run
            run = []
    yield run


def _groups(run: Sequence[Paragraph]) -> Iterator[list[Paragraph]]:
    group: list[Paragraph] = []
    for part in run:
        if part.entry:
            group.append(part)
        else:
            yield group
            group = []
    yield group


def _are_led(group: Sequence[Paragraph]) -> bool:
    return 2 * sum(part.led for part in group) > len(group)


def _rises(group: Sequence[Paragraph]) -> bool:
    numbers = [int(word) for part in group if (word := part.lines[-1].text.split()[-1]).isdecimal()]
    falls = sum(below < above for above, below in pairwise(numbers))
    return falls <= (1 - RISING) * len(group)
