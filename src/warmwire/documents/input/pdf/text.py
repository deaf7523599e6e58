"""What a PDF page says of itself: visible lines, text that nobody sees, rules, figures, and how far to trust it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from warmwire.documents.input.pdf.chars import Characters, CharReader, CharStyle
from warmwire.documents.input.pdf.draw import draw
from warmwire.documents.input.pdf.fields import Field, fill_in
from warmwire.documents.input.pdf.frame import PdfFrame, turn_box
from warmwire.documents.input.pdf.ligatures import name_glyphs
from warmwire.documents.input.pdf.lines import Letters, forget_looks, letters_of
from warmwire.documents.input.pdf.links import Target, anchor
from warmwire.documents.input.pdf.objects import Drawn, covers_page, drawings, is_painted, joined_strips, paint, walk
from warmwire.documents.input.pdf.tagged import named_headings, told_page
from warmwire.documents.input.pdf.tree import Node, read_tree
from warmwire.documents.input.prints import is_print
from warmwire.documents.input.quality import text_quality
from warmwire.documents.input.source import PageText
from warmwire.layout.page import Box
from warmwire.layout.told.elements import ToldPage

_LOG: Final = logging.getLogger(__name__)

_SMALLEST_FIGURE: Final = 0.005  # of the page
_SCANNED: Final = 0.5  # of the page under pictures: they and not the text are what is to be read
_LARGEST_SHEET: Final = 1600.0  # pixels along a page drawn to see what its pictures are


def read_page(page: Any, frame: PdfFrame, targets: Sequence[Target] = (), fields: Sequence[Field] = ()) -> PageText:
    """Everything a pdfium page says of itself, with what its form says. Hold the pdfium lock."""
    drawn, tree = walk(page, frame), read_tree(page.raw)
    textpage = page.get_textpage()
    try:
        chars = CharReader(textpage.raw, drawn, marked=tree is not None).read()
    finally:
        textpage.close()
    chars = name_glyphs(fill_in(chars, fields))
    turn = _turn(chars, frame)
    upright = frame.turned(turn)
    if turn:
        drawn = drawn.turned(turn, frame)
    dark = paint([*drawn.images, *drawn.fills], upright)

    def is_seen(style: CharStyle, box: Box) -> bool:
        return style.visible and style.order >= drawn.cover and not (style.white and not is_painted(dark, box, upright))

    letters = letters_of(chars, upright, is_seen)
    lines, hidden = letters.lines(seen=True), letters.lines(seen=False)
    told = _told(tree, letters, drawn, seen=bool(lines)) if tree is not None and (lines or hidden) else None
    forget_looks(hidden if lines or told is None else [*hidden, *told.root.all_lines(), *told.artifacts, *told.untold])
    if sum(len(line.text) for line in lines if line.mono) > 0.9 * sum(len(line.text) for line in lines):
        for line in lines:  # a page typed as a whole: the font tells nothing of code
            line.mono = None
    blocks = [Box(b.left, b.top - 0.15 * b.height, b.right, b.bottom + 0.15 * b.height) for b in (x.box for x in lines)]
    area = upright.size[0] * upright.size[1]
    figures = [
        b for b in joined_strips(drawn.images) if b.area >= _SMALLEST_FIGURE * area and not covers_page(b, upright)
    ]
    pictured, covered = float(paint(drawn.images, upright).mean()), float(paint(blocks, upright).mean())
    return PageText(
        lines=lines,
        hidden=hidden,
        rules=drawn.rules,
        figures=[*figures, *drawings(drawn, upright)],
        coverage=covered,
        largest_image=pictured,
        printed=_printed(page, drawn, frame, turn) if pictured > covered else 0.0,
        outlines=drawn.outlines,
        resolution=drawn.resolution if pictured >= _SCANNED else 0.0,
        quality=text_quality("\n".join(line.text for line in lines), len(chars.glyphs) + chars.unmapped),
        links=anchor(targets, chars, upright),
        turn=turn,
        headings=named_headings(tree, chars) if tree is not None else [],
        told=told,
        blank=drawn.count == 0 and not len(chars),
    )


def _told(tree: Node, letters: Letters, drawn: Drawn, *, seen: bool) -> ToldPage | None:
    """What the structure tree says. It comes from the file and may be anything: it never costs a page its text."""
    try:
        return told_page(tree, letters, drawn, seen=seen)
    except Exception:
        _LOG.warning("a page's structure tree cannot be followed and is left out", exc_info=True)
        return None


def _printed(page: Any, drawn: Drawn, frame: PdfFrame, turn: int) -> float:
    """The share of the page under its larger pictures that show print; the page is drawn small to see."""
    width, height = frame.turned(turn).size
    large = [box for box in drawn.images if box.area >= _SMALLEST_FIGURE * width * height]
    if not large:
        return 0.0
    sheet = draw(page, min(1.0, _LARGEST_SHEET / max(width, height)))
    scale = sheet.shape[1] / frame.size[0]
    shown = []
    for box in large:
        flat = turn_box(box, -turn, width, height)
        left, top, right, bottom = (round(x * scale) for x in (flat.left, flat.top, flat.right, flat.bottom))
        if is_print(sheet[top:bottom, left:right]):
            shown.append(box)
    return float(paint(shown, frame.turned(turn)).mean())


def _turn(chars: Characters, frame: PdfFrame) -> int:
    """How far most of the text makes the page lie on its side, beyond /Rotate: 0, 90, 180 or 270 clockwise.

    A long line in a margin has many letters but is one line, and the ticks of a drawing are many lines of few letters:
    what turns a page has more of both than anything else.
    """
    if not len(chars):
        return 0
    quarters = np.array([round((style.angle - frame.rotation) / 90) * 90 % 360 for style in chars.looks])
    sizes = np.array([max(style.size, 1.0) for style in chars.looks])
    visible = np.array([style.visible for style in chars.looks])[chars.look_of]
    seen = visible if visible.any() else ~visible
    quarter, size = quarters[chars.look_of][seen], sizes[chars.look_of][seen]
    if (quarter == quarter[0]).all():
        return int(quarter[0])
    middles = chars.boxes[seen, :2] + chars.boxes[seen, 2:]
    across = np.round(np.where((quarter + frame.rotation) % 180 == 0, middles[:, 1], middles[:, 0]) / size)
    letters = Counter(quarter.tolist())
    lines = {turn: len(set(across[quarter == turn].tolist())) for turn in letters}
    most = max(letters, key=lambda turn: letters[turn])
    return most if lines[most] == max(lines.values()) else 0
