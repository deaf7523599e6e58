"""Runs of text that were found as one and are two: a recogniser does not see a narrow gap between two cells.

Where the cut goes is told by the columns, never by the run alone; here is only how a run is cut at a place.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from warmwire.layout.page import Box, Line
from warmwire.layout.runs import Run

NARROW, BROAD = 0.55, 1.3
"""Widths of letters, in units of a usual one: of "i l . ," and of capitals, "m" and "w", in common text faces."""
_NARROW = frozenset("iljtfrI.,;:'|!()[]- ")
_BROAD = frozenset("mwMWABCDEFGHJKLNOPQRSTUVXYZ@%&—")


def split_at(line: Line, x: float, slack: float) -> tuple[Line, Line] | None:
    """`line` cut in two at the space nearest to `x`; None where none comes within `slack`.

    `x` is where the second part's column begins; the first is made to end well before it.
    """
    places = _spaces(line)
    found = min((abs(place - x), i) for i, place in places) if places else (slack, -1)
    left, right = line.text[: found[1]].rstrip(), line.text[found[1] + 1 :].lstrip()
    if found[0] >= slack or not left or not right:
        return None
    box = line.box
    words = _words(line)
    if words is not None:
        return _parted(line, line.text[: found[1]].count(" ") + 1, words)
    return (
        replace(line, text=left, box=Box(box.left, box.top, max(x - slack / 2, box.left), box.bottom), run=None),
        replace(line, text=right, box=Box(max(x, box.left), box.top, box.right, box.bottom), run=None),
    )


def split_at_rules(lines: Sequence[Line], rules: Sequence[Box]) -> list[Line]:
    """`lines` cut where an upright rule stands between two of their words, as it does between two cells."""
    uprights = sorted((rule for rule in rules if rule.height > rule.width), key=lambda rule: rule.centre[0])
    if not uprights:
        return list(lines)
    places = [rule.centre[0] for rule in uprights]
    parts: list[Line] = []
    for line in lines:
        middle = line.box.centre[1]
        crossing = uprights[bisect_left(places, line.box.left) : bisect_right(places, line.box.right)]
        parts += split_in_gaps(line, [rule.centre[0] for rule in crossing if rule.top < middle < rule.bottom], 0.0)
    return parts


def split_in_gaps(line: Line, places: Sequence[float], least: float) -> list[Line]:
    """`line` cut at each of `places` that lies in white between two of its words, at least `least` wide.

    Only where the places of its words are known: a guess would cut through them.
    """
    words = _words(line) if places else None
    if words is None:
        return [line]
    parts, first, rest = [], 0, line
    for i, ((_, left), (right, _)) in enumerate(pairwise(words_at(line)), 1):
        if right - left >= least and any(left <= place <= right for place in places):
            rest_words = _words(rest)
            if rest_words is None:
                break
            part, rest = _parted(rest, i - first, rest_words)
            parts.append(part)
            first = i
    return [*parts, rest]


def words_at(line: Line) -> list[tuple[float, float]]:
    """Where each word of a line begins and ends on the page; nothing where nobody knows."""
    box = line.box
    return [(box.left + start * box.width, box.left + end * box.width) for start, end in _words(line) or ()]


def _words(line: Line) -> tuple[tuple[float, float], ...] | None:
    """Start and end of each word along its line, from 0 to 1; None where nobody knows them."""
    run = line.run
    known = run is not None and len(run.spans) == line.text.count(" ") + 1 == len(line.text.split())
    return run.spans if run is not None and known else None


def _parted(line: Line, count: int, words: tuple[tuple[float, float], ...]) -> tuple[Line, Line]:
    """`line` cut after its first `count` words, which it has more of; both parts know where their words are."""
    pieces = line.text.split()
    return _piece(line, pieces[:count], words[:count]), _piece(line, pieces[count:], words[count:])


def _piece(line: Line, pieces: Sequence[str], words: Sequence[tuple[float, float]]) -> Line:
    box, start, end = line.box, words[0][0], max(end for _, end in words)
    text, share = " ".join(pieces), max(end - start, 1e-6)
    part = Box(box.left + start * box.width, box.top, box.left + end * box.width, box.bottom)
    spans = tuple(((a - start) / share, (b - start) / share) for a, b in words)
    run = Run(text, (part.left, part.top), (part.width, 0.0), (0.0, part.height), spans, line.confidence)
    return replace(line, text=text, box=part, run=run)


def _spaces(line: Line) -> list[tuple[int, float]]:
    """Where in the text each space is, and where on the page it ends: as the recogniser saw the words, or guessed."""
    spaces = [i for i, char in enumerate(line.text) if char == " "]
    words = _words(line)
    if words is not None:
        return [(i, line.box.left + start * line.box.width) for i, (start, _) in zip(spaces, words[1:], strict=True)]
    widths = [NARROW if c in _NARROW else BROAD if c in _BROAD else 1.0 for c in line.text]
    unit = line.box.width / max(sum(widths), 1e-6)
    ends = list(accumulate(widths, initial=0.0))
    return [(i, line.box.left + ends[i + 1] * unit) for i in spaces]
