"""From pictures of lines to lines of text: read, measure, compare with the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from statistics import median

import numpy as np

from warmwire.layout.blocks.markers import markers_of
from warmwire.layout.page import Box, Line
from warmwire.layout.runs import Run
from warmwire.models.pages.cuts import Cut
from warmwire.models.pages.engines import LineReading, Pixels
from warmwire.models.pages.ink import Ink, alone, gap_near_middle, measure
from warmwire.models.pages.inked import Inked
from warmwire.models.pages.legible import are_legible, legibility
from warmwire.models.pages.scripts import Foreign
from warmwire.models.pages.shade import evened
from warmwire.models.pages.signs import corrected
from warmwire.models.pages.stature import sizes_of
from warmwire.models.pages.strokes import Mark
from warmwire.models.pages.words import MARGIN, placed, run_of

SURE = 0.9
"""A line that is more legible is read in no other direction."""
BOXES = frozenset("☐☑")
REACH = 1.5
"""A check box is no further before its text, in units of the size."""
LONG = 10.0
"""A doubtful line that is so many times longer than high is read once more in two parts."""
SURE_REST = 0.85
"""How legible ink must be that no line was found for."""
DASH = 0.9
"""How sure a dash is that is told by its shape and place."""
SIGNS = frozenset("*•†‡§%✓+±=")
"""What may stand alone besides letters and figures."""
BOLD = (1.08, 1.26)
"""Strokes are bold from somewhere between these times the page's usual ones, for the letters' size. Over 13 pages
regular lines had up to 1.02 to 1.10, bold ones 1.10 to 1.36, each page less than all: its own valley is the bound."""
LIKELY = 1.16
"""Where that bound is when nothing speaks against it ..."""
DOUBT = 0.1
"""... and how much of a page's letters it takes to move it, by as much again as the usual weight."""
VALLEY = 0.02
"""Weights nearer to a bound than that speak against it."""
ITALIC = 0.09
"""Letters that lean so much more than the page's usual ones are italic: half of what italics lean."""
MAX_LEAN = 0.08
"""A page whose usual letters lean more is in italics."""
ASCENT, DESCENT = 0.8, 0.2
"""The room a font takes above and below its baseline, in units of its size."""
RISE, FALL = 0.73, 0.21
"""How far the letters of most fonts reach above and below the baseline, in units of the size."""
LOOSE = 0.72
"""Size of a font by the height of the detector's box, where nothing better is known."""
ABOVE, BELOW = 0.33, 0.13
"""How much further than letters a bullet or check box may reach: it stands about half the height of a capital and is at
most 1.2 high, in units of the size."""
LEVEL = 0.1
"""A line beside another is so much nearer to it than one above, per pixel."""
SAME = 0.25
"""Sizes told by the detector's boxes that differ by less are one: on pages of one font they were 20 to 25 pixels."""
SHORT = 5.0
"""Lines that are all shorter are not looked at as another script's, in units of their height: most are smudges."""
MIN_SHAPE = 2.0
"""What is not so many times wider than high, and cannot be read, is a smudge or a sign rather than a line."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """One line as it was cut out, read and measured."""

    cut: Cut
    reading: LineReading
    ink: Ink

    @property
    def box(self) -> Box:
        return self.cut.box

    @property
    def letters(self) -> int:
        return len("".join(self.reading.text.split()))

    @property
    def scale(self) -> float:
        """Pixels of the page per pixel of the picture."""
        return self.cut.across / float(self.cut.image.shape[0])

    @property
    def length(self) -> float:
        """In its own heights; 0 for a stroke or a row of dots that was taken for a line."""
        return self.cut.image.shape[1] / self.cut.image.shape[0] if self.letters or self.ink.unread else 0.0

    @property
    def legibility(self) -> float:
        return legibility(self.reading, self.ink)

    def run(self, size: float) -> Run | None:
        """Where the words of a line in a font of `size` stand, in the room that the font takes about the baseline."""
        base, high = self.ink.stature.baseline, self.cut.image.shape[0]
        em = size / self.scale
        room = (MARGIN, 1 - MARGIN) if base is None else ((base - ASCENT * em) / high, (base + DESCENT * em) / high)
        return run_of(self.cut.quad, self.cut.image, self.reading, room)

    @property
    def is_text(self) -> bool:
        """Whether ink that may be anything is text: surely read, and not as a point or stroke that any speck is."""
        letters = any(char.isalnum() or char in SIGNS for char in self.reading.text)
        return letters and self.legibility >= SURE_REST


Recognise = Callable[[Sequence[Pixels]], list[LineReading]]
Scripts = Callable[[Sequence[Pixels]], list[Foreign | None]]


@dataclass(frozen=True, slots=True)
class PageLines:
    """The text of a page: its lines, what was read of ink that no line was found for, how many lines more there are
    that could not be read, and how many were read in languages of other scripts."""

    lines: list[Line]
    rest: list[Line]
    unread: int
    languages: Mapping[str, int] = field(default_factory=dict)


def read_lines(
    lines: Sequence[Sequence[Cut]],
    recognise: Recognise,
    rest: Sequence[Sequence[Cut]] = (),
    scripts: Scripts | None = None,
) -> PageLines:
    """The lines of a page that can be read, with size and weight from their ink.

    Each line comes in all directions it may be read in; the first is believed where it is read surely. So does the
    `rest`, ink that may be no text at all. `scripts` is given the lines that may be in other scripts.
    """
    seen = _read_best([*lines, *rest], recognise)
    seen, others = seen[: len(lines)], seen[len(lines) :]
    legible = are_legible(
        [line.legibility for line in seen], [line.letters for line in seen], [line.length for line in seen]
    )
    text = [line.is_text for line in others]
    unknown = [line for line, known in zip(seen, legible, strict=True) if not known and line.length > MIN_SHAPE]
    foreign = _foreign(unknown, scripts) if scripts is not None else []
    lost = len(unknown) - len(foreign)
    lost += sum(not known and line.length > MIN_SHAPE for line, known in zip(others, text, strict=True))
    seen, others = list(compress(seen, legible)), list(compress(others, text))
    found = _lines([*seen, *others])
    languages = Counter(language for _, language in foreign)
    return PageLines([*found[: len(seen)], *(line for line, _ in foreign)], found[len(seen) :], lost, languages)


def _foreign(unknown: Sequence[_Seen], scripts: Scripts) -> list[tuple[Line, str]]:
    """The lines that are in another script, and the language of each. Their ink says nothing of fonts, since what is
    known of letters is known of Latin ones."""
    if not any(line.length > SHORT for line in unknown):
        return []
    found = []
    for seen, read in zip(unknown, scripts([alone(Inked(line.cut.image)).image for line in unknown]), strict=True):
        if read is None:
            continue
        box, cut = seen.box, seen.cut
        if not cut.angle:
            left, right = (box.left + place * box.width for place in (min(read.spans)[0], max(read.spans)[1]))
            box = replace(box, left=left, right=right)
        run = placed(cut.quad, read.text, read.spans, read.confidence, (MARGIN, 1 - MARGIN))
        line = Line(box, read.text, read.confidence, LOOSE * cut.across, angle=cut.angle, run=run)
        found.append((line, read.language))
    usual = median([line.size for line, _ in found] or [0.0])
    for line, _ in found:
        if abs(line.size - usual) <= SAME * usual:
            line.size = usual
    return found


def _read_best(lines: Sequence[Sequence[Cut]], recognise: Recognise) -> list[_Seen]:
    """Lines read in the direction that suits them best."""
    seen = _read([cuts[0] for cuts in lines], recognise)
    doubtful = [i for i, cuts in enumerate(lines) if len(cuts) > 1 and seen[i].legibility < SURE]
    others = iter(_read([cut for i in doubtful for cut in lines[i][1:]], recognise))
    for i in doubtful:
        seen[i] = max([seen[i], *(next(others) for _ in lines[i][1:])], key=lambda line: line.legibility)
    return _read_in_halves(seen, recognise)


def _read_in_halves(seen: list[_Seen], recognise: Recognise) -> list[_Seen]:
    """Lines with those that are long and doubtful read once more, in two parts, and the better reading kept: dot
    leaders, or a piece in other type, spoil the reading of a whole line."""
    doubtful = [i for i, line in enumerate(seen) if line.length > LONG and line.legibility < SURE]
    pictures = [alone(Inked(seen[i].cut.image)) for i in doubtful]
    places = [gap_near_middle(picture) for picture in pictures]
    parts = iter(
        recognise(
            [
                part
                for picture, at in zip(pictures, places, strict=True)
                for part in (picture.image[:, :at], picture.image[:, at:])
            ]
        )
    )
    for i, picture, at in zip(doubtful, pictures, places, strict=True):
        reading = _joined(next(parts), next(parts), at / picture.image.shape[1])
        again = _seen(seen[i].cut, picture, reading)
        seen[i] = max(seen[i], again, key=lambda line: line.legibility)
    return seen


def _joined(one: LineReading, other: LineReading, at: float) -> LineReading:
    """The readings of two parts of a line, the second of which begins `at` a place from 0 to 1, as one."""
    if not (one.text.strip() and other.text.strip()):
        return (
            replace(one, places=[at * p for p in one.places])
            if one.text.strip()
            else replace(other, places=[at + (1 - at) * p for p in other.places])
        )
    letters = len(one.text), len(other.text)
    confidence = (one.confidence * letters[0] + other.confidence * letters[1]) / sum(letters)
    places = [*(at * p for p in one.places), at, *(at + (1 - at) * p for p in other.places)]
    return LineReading(f"{one.text} {other.text}", confidence, places)


def _read(cuts: Sequence[Cut], recognise: Recognise) -> list[_Seen]:
    pictures = [alone(Inked(cut.image)) for cut in cuts]
    readings = recognise([picture.image for picture in pictures])
    return [_seen(cut, picture, reading) for cut, picture, reading in zip(cuts, pictures, readings, strict=True)]


def _seen(cut: Cut, picture: Inked, reading: LineReading) -> _Seen:
    even = evened(picture.image)
    picture = picture if even is picture.image else Inked(even)
    return _Seen(cut, reading, measure(picture, reading.text, reading.places))


def _lines(seen: Sequence[_Seen]) -> list[Line]:
    """Lines with their fonts: sizes that agree, and what is bolder or more slanted than the page's usual letters."""
    sizes = _sizes(seen)
    texts = corrected([line.reading.text for line in seen], [line.ink.stature.bare for line in seen])
    weights = [line.ink.stroke * line.scale / size for line, size in zip(seen, sizes, strict=True)]
    bold = bold_from([w for line, w in zip(seen, weights, strict=True) for _ in line.reading.text if w])
    slants = [line.ink.slant for line in seen for _ in line.reading.text if line.ink.slant is not None]
    upright = min(median(slants or [0.0]), MAX_LEAN)
    return [
        Line(
            _box(line, size),
            f"{line.ink.mark} {text.strip()}".strip(),
            line.reading.confidence,
            size,
            weight > bold if weight else None,
            italic=None if line.ink.slant is None else line.ink.slant > upright + ITALIC,
            angle=line.cut.angle,
            run=line.run(size),
        )
        for line, text, size, weight in zip(seen, texts, sizes, weights, strict=True)
    ]


def bold_from(weights: Sequence[float]) -> float:
    """From which weight on a page's letters are bold: where the fewest lie."""
    if not weights:
        return 0.0
    usual = median(weights)
    bounds = np.linspace(*BOLD, 19)
    away = (np.array(weights)[None] / usual - bounds[:, None]) / VALLEY
    crowd = np.exp(-np.square(away)).mean(axis=1)
    return usual * float(bounds[(crowd + DOUBT * np.abs(bounds - LIKELY)).argmin()])


def _sizes(seen: Sequence[_Seen]) -> list[float]:
    """The font size of each line on the page; a line that does not show it has that of the line nearest to it."""
    sizes = sizes_of([line.ink.stature for line in seen], [line.scale for line in seen])
    known = [(line.box, size) for line, size in zip(seen, sizes, strict=True) if size]
    return [size or _near(line.box, known) or LOOSE * line.cut.across for line, size in zip(seen, sizes, strict=True)]


def _near(box: Box, sized: Sequence[tuple[Box, float]]) -> float:
    """The size of what is nearest to a box, text beside it rather than above; 0 without any."""
    x, y = box.centre

    def away(other: Box) -> float:
        return abs(other.centre[1] - y) + LEVEL * abs(other.centre[0] - x)

    return min(sized, key=lambda pair: away(pair[0]))[1] if sized else 0.0


def _box(line: _Seen, size: float) -> Box:
    """Where the letters are: from the height of capitals to the depth of descenders about the baseline, so that steps
    between lines are those between their baselines; a line without baseline has the box of its ink."""
    box, ink, scale = line.box, line.ink, line.scale
    if line.cut.angle:
        return box
    left, right = box.left + ink.start * box.width, box.left + ink.end * box.width
    if ink.stature.baseline is not None:
        base = box.top + ink.stature.baseline * scale
        return Box(left, base - RISE * size, right, base + FALL * size)
    if ink.bottom > ink.top:
        return Box(left, box.top + ink.top * scale, right, box.top + ink.bottom * scale)
    return Box(left, box.top, right, box.bottom)


def loose(line: Line) -> Box:
    """A line's box with room above and below for a bullet or check box beside it."""
    return replace(line.box, top=line.box.top - ABOVE * line.size, bottom=line.box.bottom + BELOW * line.size)


def dash_lines(lines: Sequence[Line], dashes: Sequence[tuple[Box, str]]) -> list[Line]:
    """Dashes as lines of their own, as large as the line nearest to each."""
    sized = [(line.box, line.size) for line in lines]
    return [Line(box, text, DASH, _near(box, sized)) for box, text in dashes]


def with_marks(lines: Sequence[Line], marks: Sequence[Mark | None]) -> list[Line]:
    """Lines with the marks that stand before them, unless they open with one of their own."""
    return [
        line
        if mark is None or markers_of(line.text)
        else replace(line, text=f"{mark.text} {line.text}", box=replace(line.box, left=mark.left))
        for line, mark in zip(lines, marks, strict=True)
    ]


def unmarked(lines: Sequence[Line], marks: Sequence[Mark | None]) -> list[Line]:
    """Lines that are no mark found before a line."""
    found = [mark for mark in marks if mark is not None]
    return [
        line
        for line in lines
        if not any(
            mark.top < line.box.centre[1] < mark.bottom and abs(mark.left - line.box.left) < 0.5 * line.size
            for mark in found
        )
    ]


def with_boxes(lines: Sequence[Line]) -> list[Line]:
    """Lines with the check boxes that were read as lines of their own beside them."""
    taken: dict[int, Line] = {}
    boxes = [line for line in lines if line.text in BOXES]
    for sign in boxes:
        beside = [
            (line.box.left - sign.box.right, i)
            for i, line in enumerate(lines)
            if line.text not in BOXES
            and sign.box.left < line.box.left < sign.box.right + REACH * line.size
            and line.box.top < sign.box.centre[1] < line.box.bottom
        ]
        if beside:
            taken.setdefault(min(beside)[1], sign)
    merged = {id(sign) for sign in taken.values()}
    return [
        replace(line, text=f"{taken[i].text} {line.text}", box=replace(line.box, left=taken[i].box.left))
        if i in taken and not markers_of(line.text)
        else line
        for i, line in enumerate(lines)
        if id(line) not in merged
    ]
