"""List markers: what opens a list item, and whether it really does.

A bullet speaks for itself. A number or letter does not: "15. November" opens a date, "5. " may be where a
sentence broke. It opens an item when a neighbour of the same style stands beside it at the same indent and counts
on from it, or back to it. Nor do signs that have other uses. A star or a plus opens an item where another does too,
and else a note. An "o" is a bullet where nearly all lines beside it have one. A dash opens what somebody says where its
text runs on to the left of it, or, the long one, where its lines end as sentences do and none hangs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from warmwire.layout.page import Line

_BULLETS = "•●◦○‣▪▫■◆◇▶►▸➢➤✓✔✗✘·・･∙⁃❑❒★※□◎∎➔➜"
_DASHES = "-–—−*+"
_UNKNOWN = "\ufffd\ue000-\uf8ff"
"""Glyphs that a file gives no meaning, or one of its own: before the text of several lines they are bullets."""
_BULLET = re.compile(rf"([{_BULLETS}])\s*(?=\S)")
_DASH = re.compile(rf"([{_DASHES}o{_UNKNOWN}])\s+(?=\S)")
_BOX = re.compile(
    r"(\[[ xX✓✗]?\]|[☐☑☒⊠⊡□✅🗹🗷])\s*(?=\S)"
    r"|([冈区囚図网口回囗])\s*(?=[A-Za-zÀ-ž0-9])"  # what a recogniser of Chinese makes of them
)
_TICKED = re.compile(r"[xX✓✗☑☒⊠⊡✅🗹🗷冈区囚図网]")
_COUNT = re.compile(r"([(（]?)(\d{1,3}|[a-z]|[A-Z]|[ivxIVX]{2,5})(\.\)|[.)）])(\s*)(?=\S)")
_BRACKETED = re.compile(r"(\[)(\d{1,3})(\])(\s*)(?=\S)")
_CIRCLED = re.compile(r"([①-⑳])\s*(?=\S)")

NUMBERED: Final = re.compile(
    r"""(\[\d{1,4}\](?=\s|$)
    |[(（]?(?:\d{1,4}(?:\.\d{1,3}){0,4}|[A-Za-z]|[ivxlcdm]{1,7}|[IVXLCDM]{1,7})(?:\.\)|[.)）])(?=\s|$)
    |\d{1,3}(?:\.\d{1,3}){1,4}(?=\s|$)
    |\d{1,3}、|[①-⑳])\s*""",
    re.VERBOSE,
)
"""The printed number of an item that is known to count, at the start of its text."""

BULLETED: Final = re.compile(rf"([{_DASHES}{_BULLETS}{_UNKNOWN}])(?:\s+|$)")
"""The printed bullet of an item that is known to have one, at the start of its text."""

CAPTION = re.compile(
    r"(?:figure|fig\.|table|tab\.|exhibit|chart|plate|scheme|map|abbildung|abb\.|tabelle|tableau|tabla|cuadro|figura|tabela"
    r"|quadro|tabella|afbeelding|tabel|kuva|图|表|圖|図)\s*[A-Z]?\d+(?:[.\-]\d+)*[a-z]?\s*(?:[.:–—|-]|\s|$)",
    re.IGNORECASE,
)
"""How the name of a figure or a table opens its caption."""

NOTE: Final = re.compile(
    r"(?:sources?|notes?|quellen?|anmerkung(?:en)?|hinweise?|fuentes?|notas?|fontes?|fonti?|bron(?:nen)?)\s*[:：]",
    re.IGNORECASE,
)
"""How what is said of a table below it opens."""

_SPOKEN = re.compile(r"[.!?…»”\"]\s*$")
_ROMAN = {"i": 1, "v": 5, "x": 10}

_NEAR = 20
"""Lines above and below among which another star makes a list."""


class MarkerStyle(StrEnum):
    BULLET = "bullet"
    CHECKED = "checked"
    UNCHECKED = "unchecked"
    NUMBER = "number"
    LOWER = "lower"
    UPPER = "upper"
    ROMAN = "roman"


@dataclass(frozen=True, slots=True)
class Marker:
    """What opens a list item: `text` as printed, what it counts (0 for a bullet), and the item's own text.

    `frame` tells the ways to write a number apart, "1." from "1)" and "(1)"; `sure` is false where the marker is
    not set off from the text by a space.
    """

    style: MarkerStyle
    text: str
    rest: str
    value: int = 0
    frame: str = ""
    sure: bool = True

    @property
    def ordered(self) -> bool:
        return self.value > 0


def markers_of(text: str) -> list[Marker]:
    """Every way to read the start of `text` as a list marker, the likeliest first."""
    if match := _BOX.match(text):
        checked = _TICKED.search(match[0]) is not None
        return [
            Marker(MarkerStyle.CHECKED if checked else MarkerStyle.UNCHECKED, match[0].strip(), text[match.end() :])
        ]
    if match := _BULLET.match(text) or _DASH.match(text):
        return [Marker(MarkerStyle.BULLET, match[1], text[match.end() :])]
    if match := _CIRCLED.match(text):
        return [Marker(MarkerStyle.NUMBER, match[1], text[match.end() :], ord(match[1]) - 0x245F, "○")]
    match = _COUNT.match(text) or _BRACKETED.match(text)
    if match is None:
        return []
    opening, count, closing, space = match.groups()
    printed, rest = f"{opening}{count}{closing}", text[match.end() :]
    return [
        Marker(style, printed, rest, value, f"{opening}{closing}", bool(space))
        for style, value in _readings(count)
        if value > 0
    ]


def opens_item(text: str) -> bool:
    """Whether `text` opens with a sign that opens nothing but items: a box to tick, or a bullet."""
    return bool(_BOX.match(text) or re.match(r"[•●○‣■◆➢]\s*\S", text))


def opens_caption(text: str) -> bool:
    """Whether a line opens with a figure's or a table's word and its number, set off as a name is."""
    match = CAPTION.match(text)
    return match is not None and (re.search(r"[.:–—|]\s*$", match[0]) is not None or match.end() >= len(text.rstrip()))


def _readings(count: str) -> list[tuple[MarkerStyle, int]]:
    if count.isdigit():
        return [(MarkerStyle.NUMBER, int(count))]
    readings = []
    if len(count) == 1:
        readings.append((MarkerStyle.LOWER if count.islower() else MarkerStyle.UPPER, ord(count.lower()) - 96))
    if set(count.lower()) <= set(_ROMAN):
        readings.append((MarkerStyle.ROMAN, _roman(count.lower())))
    return readings


def _roman(count: str) -> int:
    values = [_ROMAN[letter] for letter in count]
    return sum(-one if one < following else one for one, following in zip(values, [*values[1:], 0], strict=True))


def find_markers(lines: Sequence[Line], size: float) -> list[Marker | None]:
    """The list marker of every line of one column, or None; `size` is the body size, the measure of indents."""
    readings = [markers_of(line.text) for line in lines]
    found: list[Marker | None] = [None] * len(lines)
    counted: list[tuple[int, Marker]] = []
    for i, options in enumerate(readings):
        if options and not options[0].ordered and _is_bullet(i, readings, lines, size):
            found[i] = options[0]
        counted += [(i, marker) for marker in options if marker.ordered]
    sections = Counter(marker.value for _, marker in counted if _is_section(marker))
    counted = [(i, marker) for i, marker in counted if not (_is_section(marker) and sections[marker.value] > 1)]
    for place, (i, marker) in enumerate(counted):
        around = [*reversed(counted[max(0, place - 60) : place]), *counted[place + 1 : place + 61]]
        if found[i] is None and any(_neighbours(lines, i, marker, j, other, size) for j, other in around):
            found[i] = marker
    return found


def _is_bullet(i: int, readings: Sequence[Sequence[Marker]], lines: Sequence[Line], size: float) -> bool:
    """Whether a sign that has other uses as well opens an item at line `i`."""
    sign = readings[i][0].text
    if sign == "o":
        return _is_ring(i, readings, lines, size)
    if re.match(rf"[{_UNKNOWN}]", sign):
        return _is_repeated(i, readings, lines, size)
    if sign not in _DASHES:
        return True
    if not any(char.isalpha() for char in readings[i][0].rest):
        return False  # a figure below zero, a page number between dashes
    if sign in "*+":
        near = range(max(0, i - _NEAR), min(len(lines), i + _NEAR + 1))
        return any(j != i and readings[j] and readings[j][0].text == sign for j in near)
    if i + 1 >= len(lines) or readings[i + 1]:
        return sign != "—" or not _SPOKEN.search(lines[i].text)
    shift = lines[i + 1].box.left - lines[i].box.left
    if abs(shift) > 0.8 * size:
        return shift > 0 or not lines[i + 1].text[:1].islower()
    return sign != "—"


def _is_ring(i: int, readings: Sequence[Sequence[Marker]], lines: Sequence[Line], size: float) -> bool:
    """Whether an "o" is a bullet, as word processors set it, and no word: most lines beside it have one."""
    near = range(max(0, i - _NEAR), min(len(lines), i + _NEAR + 1))
    beside = [j for j in near if abs(lines[j].box.left - lines[i].box.left) < 0.4 * size]
    rings = [j for j in beside if readings[j] and readings[j][0].text == "o"]
    return len(rings) > 1 and len(rings) > 0.7 * len(beside)


def _is_repeated(i: int, readings: Sequence[Sequence[Marker]], lines: Sequence[Line], size: float) -> bool:
    """Whether a sign stands before words, and at the same left edge before others nearby."""
    sign, left = readings[i][0].text, lines[i].box.left
    near = range(max(0, i - _NEAR), min(len(lines), i + _NEAR + 1))
    return readings[i][0].rest[:1].isalnum() and any(
        j != i and readings[j] and readings[j][0].text == sign and abs(lines[j].box.left - left) < 0.4 * size
        for j in near
    )


def _is_section(marker: Marker) -> bool:
    """Whether a marker may be the first part of a number such as "2.1": it is when another line has the same part."""
    return not marker.sure and marker.rest[:1].isdigit()


def _neighbours(lines: Sequence[Line], i: int, marker: Marker, j: int, other: Marker, size: float) -> bool:
    """Whether two markers belong to one list and follow each other in it."""
    if i == j or (marker.style, marker.frame) != (other.style, other.frame):
        return False
    step = other.value - marker.value
    one, two = lines[i].box, lines[j].box
    # Numbers may be set flush right ("9." above "10."), so either edge of the marker may line up.
    aligned = abs(one.left - two.left) < (1.2 if len(marker.text) != len(other.text) else 0.8) * size
    return aligned and step == (1 if j > i else -1)
