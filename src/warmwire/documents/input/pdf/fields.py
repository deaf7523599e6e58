"""Fields of a form: boxes that are ticked or not, and values that nothing on the page shows.

What is filled into a form or written over a page is drawn on it before its text is read, so most of it is text already.
A tick is not: it is a drawing, or a letter of a font of signs, and an empty box is nothing at all. Each becomes one
character beside its label. Values and notes that the file has no drawing of become text as programs that show PDFs
would draw it, and of a list that shows all its options the chosen ones stay.
"""

from __future__ import annotations

import ctypes
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warmwire.documents.input.pdf.chars import Characters, CharStyle, Space, without

TICKED, EMPTY = "☑", "☐"

MOST: Final = 5000
"""Most fields looked at on one page."""

_FURTHEST: Final = 1e6
"""Nothing of a page is further out, points."""

_LONGEST: Final = 20_000
"""Bytes of the longest value that is kept."""

_REACH: Final = 2.5
"""A label is no further from its box than this many times the box's height."""

_MOST_SIGNS: Final = 2
"""What a box shows is a sign; more letters in it are its label."""

_UNSEEN: Final = 1 | 2 | 32
"""Flags of what is not shown on a screen: invisible, hidden, no view."""

_USUAL: Final = 11.0
_LETTER: Final = 0.5
_LEADING: Final = 1.2
"""Size of a value on a page without text, points; width of added letters and step of their lines, in font sizes."""

_SHORTEST: Final = 10
"""Letters of a line of an added value at least, however narrow its field."""

Corners = tuple[float, float, float, float]


class Field(NamedTuple):
    """A field's rectangle (left, bottom, right, top in user space), and what it says. `alone` fields say it in place of
    what is drawn in them, others where nothing is."""

    corners: Corners
    text: str
    alone: bool


def read_fields(form: Any, page: Any) -> list[Field]:
    """The fields and notes of a pdfium page that say something; `form` may be None. Hold the pdfium lock."""
    import pypdfium2.raw as pdfium

    found = []
    for index in range(min(max(0, pdfium.FPDFPage_GetAnnotCount(page)), MOST)):
        note = pdfium.FPDFPage_GetAnnot(page, index)
        if note:
            try:
                field = _field(form, note)
            finally:
                pdfium.FPDFPage_CloseAnnot(note)
            if field is not None:
                found.append(field)
    return found


def _field(form: Any, note: Any) -> Field | None:
    import pypdfium2.raw as pdfium

    subtype = pdfium.FPDFAnnot_GetSubtype(note)
    if subtype not in (pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT):
        return None
    if pdfium.FPDFAnnot_GetFlags(note) & _UNSEEN:
        return None
    area = pdfium.FS_RECTF()
    if not pdfium.FPDFAnnot_GetRect(note, area):
        return None
    left, right = sorted((area.left, area.right))
    bottom, top = sorted((area.bottom, area.top))
    corners = left, bottom, right, top
    if not (left < right and bottom < top) or max(map(abs, corners)) > _FURTHEST:
        return None
    if subtype == pdfium.FPDF_ANNOT_FREETEXT:
        said = _text(lambda *to: pdfium.FPDFAnnot_GetStringValue(note, b"Contents", *to))
        drawn = pdfium.FPDFAnnot_GetAP(note, pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None, 0) > 2
        return None if drawn or not said.strip() else Field(corners, said, False)
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, note) if form is not None else -1
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        return Field(corners, TICKED if pdfium.FPDFAnnot_IsChecked(form, note) else EMPTY, True)
    if kind == pdfium.FPDF_FORMFIELD_LISTBOX:
        chosen = ", ".join(_chosen(form, note))
        return Field(corners, chosen, True) if chosen else None
    if kind in (pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_TEXTFIELD):
        value = _text(lambda *to: pdfium.FPDFAnnot_GetFormFieldValue(form, note, *to))
        return Field(corners, value, False) if value.strip() else None
    return None


def _chosen(form: Any, note: Any) -> Iterator[str]:
    """The options of a list that are chosen."""
    import pypdfium2.raw as pdfium

    for index in range(min(max(0, pdfium.FPDFAnnot_GetOptionCount(form, note)), MOST)):
        if pdfium.FPDFAnnot_IsOptionSelected(form, note, index):
            yield " ".join(_text(lambda *to, at=index: pdfium.FPDFAnnot_GetOptionLabel(form, note, at, *to)).split())


def _text(ask: Any) -> str:
    buffer = (ctypes.c_ushort * (_LONGEST // 2))()
    size = ask(buffer, _LONGEST)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace") if 2 < size <= _LONGEST else ""


def fill_in(chars: Characters, fields: Sequence[Field]) -> Characters:
    """The characters with what the fields say, each in the order beside what it belongs to."""
    for field in fields:
        left, bottom, right, top = field.corners
        middles = (chars.boxes[:, :2] + chars.boxes[:, 2:]) / 2
        inside = np.flatnonzero((middles >= (left, bottom)).all(axis=1) & (middles <= (right, top)).all(axis=1))
        if field.text in (TICKED, EMPTY):
            if len(inside) <= _MOST_SIGNS:
                chars = _beside_label(without(chars, inside), field)
        elif field.alone or not len(inside):
            at = int(inside[0]) if len(inside) else len(chars)
            chars = _with_value(without(chars, inside), at, field)
    return chars


def _beside_label(chars: Characters, field: Field) -> Characters:
    """The characters with a box before its label: what stands right of it on its line, else what stands left of it."""
    left, bottom, right, top = field.corners
    height, middle = top - bottom, (top + bottom) / 2
    low, high = chars.boxes[:, 1], chars.boxes[:, 3]
    level = (low - height / 4 < middle) & (middle < high + height / 4) if len(chars) else np.zeros(0, dtype=bool)
    after = np.where(level, chars.boxes[:, 0] - right, np.inf)
    before = np.where(level, left - chars.boxes[:, 2], np.inf)
    after[after < -height / 2], before[before < -height / 2] = np.inf, np.inf
    if len(chars) and after.min() < _REACH * height:
        at = label = int(after.argmin())
    elif len(chars) and before.min() < _REACH * height:
        label = int(before.argmin())
        at = label + 1
    else:
        return _insert(chars, len(chars), field.text, np.array([field.corners]), _plain(height))
    box = left, chars.boxes[label, 1], right, chars.boxes[label, 3]
    found = _insert(chars, at, field.text, np.array([box]), chars.style(label))
    if at == label:
        found.spaces[at + 1] = Space.REAL
    return found


def _with_value(chars: Characters, at: int, field: Field) -> Characters:
    """The characters with a value in the middle of its field, in lines that fit it."""
    left, bottom, right, top = field.corners
    usual = float(np.sort(chars.sizes)[len(chars) // 2]) if len(chars) else _USUAL
    size = max(1.0, min(usual, top - bottom))
    letters = max(_SHORTEST, int((right - left) / (_LETTER * size)))
    lines = [line for part in field.text.splitlines() for line in textwrap.wrap(part, letters)]
    low = (top + bottom) / 2 + (len(lines) / 2 - 1) * _LEADING * size
    for line in lines:
        x = np.arange(len(line)) * _LETTER * size + left
        boxes = np.stack([x, np.full_like(x, low), x + _LETTER * size, np.full_like(x, low + size)]).T
        chars = _insert(chars, at, line, boxes, _plain(size))
        at += len(line) - line.count(" ")
        low -= _LEADING * size
    return chars


def _plain(size: float) -> CharStyle:
    return CharStyle(True, False, size, 0.0, False, False, False, 1 << 30)


def _insert(chars: Characters, at: int, text: str, boxes: NDArray[np.float64], style: CharStyle) -> Characters:
    """The characters with `text` before the one at a place; spaces in it are told with what comes after them."""
    kept = [(letter, box) for letter, box in zip(text, boxes, strict=True) if letter != " "]
    spaces = [Space.REAL, *(Space.REAL if before == " " else Space.NONE for before in text[:-1])]
    spaces = [space for space, letter in zip(spaces, text, strict=True) if letter != " "]
    looks = [*chars.looks, style]
    look_of = np.insert(chars.look_of, at, [len(chars.looks)] * len(kept))
    return replace(
        chars,
        texts=[*chars.texts[:at], *(letter for letter, _ in kept), *chars.texts[at:]],
        boxes=np.insert(chars.boxes, at, np.array([box for _, box in kept]).reshape(-1, 4), axis=0),
        looks=looks,
        look_of=look_of,
        spaces=np.insert(chars.spaces, at, spaces),
        glyphs={place + (len(kept) if place >= at else 0): glyph for place, glyph in chars.glyphs.items()},
    )
