"""What a PDF page says of itself: visible lines, text that nobody sees, rules, figures, and how far to trust it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from warmwire.documents.pdf_chars import Char, CharReader, Style
from warmwire.documents.pdf_frame import Frame
from warmwire.documents.pdf_lines import lines_of
from warmwire.documents.pdf_objects import covers_page, drawings, is_painted, paint, walk
from warmwire.documents.quality import text_quality
from warmwire.documents.source import PageText
from warmwire.layout.page import Box

_SMALLEST_FIGURE: Final = 0.005  # of the page


def read_page(page: Any, frame: Frame) -> PageText:
    """Everything a pdfium page says of itself. Hold the pdfium lock."""
    drawn = walk(page, frame)
    textpage = page.get_textpage()
    try:
        reader = CharReader(textpage.raw, drawn)
        characters = list(reader.characters())
    finally:
        textpage.close()
    turn = _turn(characters, frame)
    upright = frame.turned(turn)
    if turn:
        drawn = walk(page, upright)
    dark = paint([*drawn.images, *drawn.fills], upright)

    def is_seen(style: Style, box: Box) -> bool:
        return style.visible and style.order >= drawn.cover and not (style.white and not is_painted(dark, box, upright))

    lines, hidden = lines_of(characters, upright, is_seen)
    if sum(len(line.text) for line in lines if line.mono) > 0.9 * sum(len(line.text) for line in lines):
        for line in lines:  # a page typed as a whole: the font tells nothing of code
            line.mono = None
    blocks = [Box(b.left, b.top - 0.15 * b.height, b.right, b.bottom + 0.15 * b.height) for b in (x.box for x in lines)]
    area = upright.size[0] * upright.size[1]
    figures = [b for b in drawn.images if b.area >= _SMALLEST_FIGURE * area and not covers_page(b, upright)]
    return PageText(
        lines=lines,
        hidden=hidden,
        rules=drawn.rules,
        figures=[*figures, *drawings(drawn, upright)],
        coverage=float(paint(blocks, upright).mean()),
        largest_image=float(paint(drawn.images, upright).mean()),
        quality=text_quality("\n".join(line.text for line in lines), reader.unmapped),
        turn=turn,
        blank=drawn.count == 0 and not characters,
    )


def _turn(characters: Sequence[Char], frame: Frame) -> int:
    """How far most of the text makes the page lie on its side, beyond /Rotate: 0, 90, 180 or 270 clockwise."""
    turns = Counter(
        round((style.angle - frame.rotation) / 90) * 90 % 360 for _, _, style, _ in characters if style.visible
    )
    return turns.most_common(1)[0][0] if turns else 0
