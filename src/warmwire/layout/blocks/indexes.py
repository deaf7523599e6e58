"""Columns of an index: each entry a paragraph of its own, however even their lines stand.

Nothing but their ends tells entries from lines of a text: most end in page numbers. A line goes on with the entry above
where it is set in and that one was cut short: it filled its column, or ended within a word, or pages follow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from warmwire.layout.measures import INDENT, Column
from warmwire.layout.page import Line

FEWEST: Final = 8
"""Lines that end in page numbers, of a column of an index, ..."""
SHARE: Final = 0.5
"""... and their share of its lines: others head those below them, or go on in the next."""
LIKELY: Final = 0.8
"""A short last column, of half so many entries, is told by this share."""

_INDEXED = re.compile(r"\D[,\s]\s?\d{1,4}[a-z]{0,2}(?:\s?[-–]\s?\d{1,4}[a-z]?)?\.?$")
_PAGES = re.compile(r"\d{1,4}[a-z]{0,2}(?:[-–,\s]|$)")
_CUT = re.compile(r"(?:\w[-‐\u00ad]|,)$")


def is_indexed(text: str) -> bool:
    """Whether a line ends as an entry of an index does: in page numbers behind a comma or a space."""
    return _INDEXED.search(text) is not None


def index_openings(column: Column, contents: Sequence[bool] = ()) -> list[bool] | None:
    """Whether each line of a column of an index opens an entry; None for any other column. Lines of `contents`, whose
    numbers are set apart, are no entries of an index."""
    apart = contents or [False] * len(column.rows)
    ended = [is_indexed(row.text.rstrip()) and not own for row, own in zip(column.rows, apart, strict=True)]
    count, share = sum(ended), sum(ended) / max(len(ended), 1)
    if count < FEWEST / 2 or share < SHARE or (count < FEWEST and share < LIKELY):
        return None
    opens = [True] * len(ended)
    for i in range(1, len(ended)):
        opens[i] = not _goes_on(column, i, ended[i - 1], opens)
    return opens


def _goes_on(column: Column, i: int, ended: bool, opens: list[bool]) -> bool:
    """Whether line `i` goes on with the entry above, whose last line `ended` in page numbers."""
    above, row = column.rows[i - 1], column.rows[i]
    deeper = column.shift(i) > INDENT or (not opens[i - 1] and abs(column.shift(i)) < INDENT)
    if not deeper or column.step(i) < 0.5 or column.is_wide(i):
        return False
    if _CUT.search(above.text.rstrip()) or _opens_with_pages(row):
        return True
    return not ended and not column.early[i - 1] and not above.text.rstrip().endswith(":")


def _opens_with_pages(row: Line) -> bool:
    return _PAGES.match(row.text) is not None
