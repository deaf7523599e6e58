"""What stands beside a page's text: captions and footnotes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from warmwire.layout.blocks.markers import CAPTION
from warmwire.layout.blocks.paragraphs import Paragraph
from warmwire.layout.page import Box

_NOTE = re.compile(r"(?:[¹²³⁴-⁹⁰]+|[*†‡§]{1,3}|\(?\d{1,2}\)?)\s*(?=[^\W\d_\s]|[“\"'‘«(])")


def is_caption(paragraph: Paragraph, figures: Sequence[Box], size: float) -> bool:
    """Whether a paragraph names a figure or table: it opens with its word and number, near one or set as a label."""
    text = paragraph.lines[0].text
    match = CAPTION.match(text)
    if match is None or len(paragraph.lines) > 8:
        return False
    box = paragraph.box
    near = any(
        min(abs(box.top - figure.bottom), abs(figure.top - box.bottom)) < 3 * size
        and min(box.right, figure.right) > max(box.left, figure.left)
        for figure in figures
    )
    return near or bool(re.search(r"[.:–—|]\s*$", match[0]) and len(paragraph.lines) <= 3)


def footnotes(paragraphs: Sequence[Paragraph], height: float, size: float, rules: Sequence[Box] = ()) -> set[int]:
    """Which paragraphs are footnotes: the last ones of a column, opened by a mark, small or under a short rule."""
    found: set[int] = set()
    closed = False  # whether the text above this column's notes was met
    for i in range(len(paragraphs) - 1, -1, -1):
        paragraph = paragraphs[i]
        box = paragraph.box
        closed = closed and box.bottom < paragraphs[i + 1].box.bottom  # else this is the foot of the column before
        if closed:
            continue
        if box.top < 0.5 * height or paragraph.size > 1.02 * size or not _NOTE.match(paragraph.lines[0].text):
            closed = True
            continue
        ruled = any(
            rule.width > rule.height and 0 < box.top - rule.centre[1] < 3 * size and rule.left < box.right
            for rule in rules
        )
        if paragraph.size < 0.93 * size or ruled or (found and abs(paragraph.size - paragraphs[min(found)].size) < 1):
            found.add(i)
        else:
            closed = True
    return found


def note_text(text: str) -> str:
    """A footnote with a space between its mark and its text."""
    match = _NOTE.match(text)
    return f"{match[0].strip()} {text[match.end() :]}" if match else text
