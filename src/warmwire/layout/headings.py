"""Which paragraphs are headings, and of which level.

Size speaks first: larger than the body is a heading. Text of the body's size may be one when it is bold, short,
alone on its line and followed by plain text. The level follows the printed number where there is one ("2.1"), else
the size relative to the body, so that equal pages of one document get equal levels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from warmwire.layout.page import Box
from warmwire.layout.paragraphs import Paragraph
from warmwire.layout.rows import is_value

LARGER = 1.18
"""A paragraph this much larger than the body is set apart by its size alone (recognised sizes are rough)."""
NUMBERED = 1.07
"""... and one that opens with a section number when it is that much larger."""
TITLE = 1.5
"""The largest text of a page is its title from this size on."""
_LEVELS = (1.27, 1.1)

_NUMBER = re.compile(
    r"(?:(?:chapter|section|part|kapitel|teil|chapitre|capítulo|abschnitt)\s+)?(\d{1,2}(?:\.\d{1,2}){0,4})[.)]?\s+(?=\D)",
    re.I,
)


def is_heading(paragraph: Paragraph, following: Paragraph | None, size: float, titles: Sequence[Box] = ()) -> bool:
    """Whether a paragraph heads what follows; `titles` are boxes where a layout model saw one."""
    text = " ".join(line.text for line in paragraph.lines).strip()
    letters = sum(char.isalpha() for char in text)
    figures = is_value(text) and not (letters >= 6 and letters > sum(char.isdigit() for char in text))
    if not letters or len(text) > 200 or len(paragraph.lines) > 3 or figures:
        return False
    sentence = text.endswith((".", ";", ",", "。")) and len(text) > 40
    ratio = paragraph.size / size
    if ratio >= LARGER:
        return not sentence or ratio >= TITLE
    if paragraph.marker is not None and not paragraph.marker.ordered:
        return False
    if text.endswith((":", ",", ";", ".", "。")) or len(paragraph.lines) > 2 or len(text) > 100 or ratio < 0.94:
        return False
    backed = any(paragraph.box.intersection(box) >= 0.6 * paragraph.box.area for box in titles)
    if ":" in text and is_value(text.split(":", 1)[1]):  # a label and its value
        return False
    if ratio >= NUMBERED and _NUMBER.match(text):
        return not text[-1].isdigit()  # a line of a table of contents
    if paragraph.bold:
        return following is None or not following.bold or backed
    return backed and ratio >= 1.07


def level_of(paragraph: Paragraph, size: float) -> int:
    """1 for the highest level below the title, up to 3, or as deep as the printed number goes."""
    match = _NUMBER.match(paragraph.lines[0].text)
    if match:
        return min(match[1].count(".") + 1, 6)
    return 1 + sum(paragraph.size / size < step for step in _LEVELS)


def title_of(opening: Sequence[Paragraph], headings: Sequence[Paragraph], size: float) -> Paragraph | None:
    """The page's title: the first of all `headings` when it is among those before any text (`opening`), much larger
    than the body and larger than the others."""
    if not opening or opening[0].size < TITLE * size or _NUMBER.match(opening[0].lines[0].text):
        return None
    title = opening[0]
    return title if all(other is title or other.size < 0.95 * title.size for other in headings) else None
