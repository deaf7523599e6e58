"""What stands around a page's text: running heads and feet, footnotes, captions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from warmwire.layout.page import Box, Line, Region, RegionKind
from warmwire.layout.paragraphs import Paragraph
from warmwire.layout.rows import bounds, rows_of, size_of

MARGIN = 0.065
"""Running heads and feet stand within this share of the page's height from its edge, or ..."""
WIDE_MARGIN = 0.11
"""... within this share where something else says so: a rule, a layout model, a page number."""

_FOLIO = re.compile(
    r"[-–—·\s]*(?:(?:page|seite|p\.|s\.|sheet|blatt|página|pág\.|pagina|folio|第)\s*)?\d{1,4}"
    r"(?:\s*(?:/|of|von|de|sur|di|van|av)\s*\d{1,4})?\s*页?[-–—·\s]*",
    re.IGNORECASE,
)
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|tab\.|chart|plate|scheme|map|abbildung|abb\.|tabelle|tableau|tabla|cuadro|figura|tabela"
    r"|quadro|tabella|afbeelding|tabel|kuva|图|表|圖|図)\s*[A-Z]?\d+(?:[.\-]\d+)*[a-z]?\s*(?:[.:–—|-]|\s|$)",
    re.IGNORECASE,
)
_NOTE = re.compile(r"(?:[¹²³⁴-⁹⁰]+|[*†‡§]{1,3}|\(?\d{1,2}\)?)\s*(?=[^\W\d_\s]|[“\"'‘«(])")


@dataclass(slots=True)
class Furniture:
    """The lines of a page told apart: running heads, running feet, and the text between."""

    head: list[Line]
    foot: list[Line]
    text: list[Line]


def furniture(
    lines: Sequence[Line], height: float, size: float, regions: Sequence[Region] = (), rules: Sequence[Box] = ()
) -> Furniture:
    """Tell running heads and feet from text: the one row nearest to the edge, small, short and set off."""
    rows = rows_of(lines)
    if len(rows) < 3:
        return Furniture([], [], list(lines))
    head, foot = [], []
    if _is_running(rows[0], rows[1], height, size, [r.box for r in regions if r.kind is RegionKind.HEADER], rules):
        head = rows[0]
    if _is_running(rows[-1], rows[-2], height, size, [r.box for r in regions if r.kind is RegionKind.FOOTER], rules):
        foot = rows[-1]
    taken = {id(line) for line in (*head, *foot)}
    return Furniture(head, foot, [line for line in lines if id(line) not in taken])


def _is_running(
    row: Sequence[Line], inner: Sequence[Line], height: float, size: float, seen: Sequence[Box], rules: Sequence[Box]
) -> bool:
    box, other = bounds(line.box for line in row), bounds(line.box for line in inner)
    at_top = box.centre[1] < other.centre[1]
    depth = box.bottom if at_top else height - box.top
    if depth > WIDE_MARGIN * height or max(map(size_of, row)) > 1.15 * size:
        return False
    between = other.top - box.bottom if at_top else box.top - other.bottom
    backed = any(box.intersection(region) > 0.5 * box.area for region in seen)
    low, high = sorted((box.centre[1], other.centre[1]))
    ruled = any(low < rule.centre[1] < high and rule.width > 0.4 * max(box.width, other.width) for rule in rules)
    folio = all(_FOLIO.fullmatch(line.text.strip()) for line in row)
    if folio:
        return between > 0.8 * size
    if ruled or backed:
        return between > 0.4 * size
    return depth <= MARGIN * height and between > 1.4 * size


def is_caption(paragraph: Paragraph, figures: Sequence[Box], size: float) -> bool:
    """Whether a paragraph names a figure or table: it opens with its word and number, near one or set as a label."""
    text = paragraph.lines[0].text
    match = _CAPTION.match(text)
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
    """Which of a column's paragraphs are footnotes: the last ones, opened by a mark, small or under a short rule."""
    found: set[int] = set()
    for i in range(len(paragraphs) - 1, -1, -1):
        paragraph = paragraphs[i]
        box = paragraph.box
        if box.top < 0.5 * height or paragraph.size > 1.02 * size or not _NOTE.match(paragraph.lines[0].text):
            break
        ruled = any(
            rule.width > rule.height and 0 < box.top - rule.centre[1] < 3 * size and rule.left < box.right
            for rule in rules
        )
        if paragraph.size < 0.93 * size or ruled or (found and abs(paragraph.size - paragraphs[min(found)].size) < 1):
            found.add(i)
        else:
            break
    return found


def note_text(text: str) -> str:
    """A footnote with a space between its mark and its text."""
    match = _NOTE.match(text)
    return f"{match[0].strip()} {text[match.end() :]}" if match else text
