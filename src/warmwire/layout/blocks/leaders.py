"""Rows of a table of contents, put together from what was seen of them.

Dots lead from an entry to its page number over half of the page. A file has them as text, mostly in one run with entry
and number; a recogniser leaves most of them out, or reads a few as dashes and bullets, and then a title and a number
stand far apart like two cells. What tells is the column of numbers: page labels that end at one right edge, row after
row, with dots to be seen in some of the rows. Each such row becomes one line with a whole leader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from warmwire.layout.page import Line
from warmwire.layout.rows import bounds, is_value, join_runs, rows_of, size_of

FEWEST: Final = 4
"""Rows whose numbers end at one edge, of the shortest table of contents, ..."""
LED: Final = 0.3
"""... and the share of them in which some dots are seen: .43 and .71 on two scanned pages, of tables without them 0."""
VALUED: Final = 0.1
"""... and of those in which an amount follows, at most."""
EDGE: Final = 0.7
"""Page numbers of one column end this close to each other, in units of the body: recognised boxes stray by 0.5."""
NUMBER_GAP: Final = 5.0
"""White between the number of a section and its title, in units of the body, at most."""
WORD_GAP: Final = 1.5
"""White between two runs of one title, likewise."""
NEXT: Final = 8.0
"""White between two rows of one table of contents, likewise: parts of a book are set apart by up to 6."""

DOT: Final = 0.4
"""Lines so small, in units of the body, are pieces of a leader, whatever was read in them: letters of notes are .6."""

LEADER: Final = " .... "
"""What stands for the dots between an entry and its page."""

_DOTS = r".·…‥_•~"
_LABEL = r"(?:\d{1,4}|[ivxlcIVXLC]{1,6}|[A-Z]{1,2}-?\d{1,3}|\d{1,3}[-–]\d{1,3})"
_ALONE = re.compile(rf"(?P<dots>[{_DOTS}\s–—-]*?)(?P<page>{_LABEL})")
_WHOLE = re.compile(rf"(?P<title>.*[^{_DOTS}\s])(?P<dots>\s*(?:…|[{_DOTS}]\s*[{_DOTS}])[{_DOTS}\s]*)(?P<page>{_LABEL})")
_END = re.compile(rf"(?:\s[–—-])?[{_DOTS}\s]*$")
_SEEN = re.compile(rf"…|\s[{_DOTS}]|[{_DOTS}]\s*[{_DOTS}]")
_SECTION = re.compile(r"[A-Z]?\d{0,2}(?:\.\d{1,3}){0,5}[.)]?|[ivxlcIVXLC]{1,6}[.)]?")


@dataclass(slots=True)
class _LeaderEntry:
    """A row that may be an entry: its runs, the line it would be, and whether dots were seen in it."""

    runs: list[Line]
    line: Line
    led: bool
    valued: bool
    """Whether an amount follows: then the number is that of a form's line."""


def with_leaders(lines: Sequence[Line], size: float) -> list[Line]:
    """`lines` with each row of a table of contents made one line; `size` is the page's body size."""
    found = sorted(_candidates(lines, size), key=lambda entry: entry.line.box.right)
    taken: set[int] = set()
    whole: list[Line] = []
    for column in _parted(found, lambda a, b: b.line.box.right - a.line.box.right > EDGE * size):
        column.sort(key=lambda entry: entry.line.box.top)
        for group in _parted(column, lambda a, b: b.line.box.top - a.line.box.bottom > NEXT * size):
            if len(group) >= FEWEST and _is_contents(group):
                taken |= {id(run) for entry in group for run in entry.runs}
                whole += [entry.line for entry in group]
    if not whole:
        return list(lines)
    dots = {id(line) for line in lines if size_of(line) < DOT * size and any(_is_within(line, one) for one in whole)}
    return [*(line for line in lines if id(line) not in taken | dots), *whole]


def _is_within(dot: Line, entry: Line) -> bool:
    """Whether the middle of a small line is inside an entry."""
    x, y = dot.box.centre
    return entry.box.left < x < entry.box.right and entry.box.top < y < entry.box.bottom


def _is_contents(group: Sequence[_LeaderEntry]) -> bool:
    led, valued = sum(entry.led for entry in group), sum(entry.valued for entry in group)
    twice = sum(_is_numbered_twice(entry.line.text.split()) for entry in group)
    return led >= LED * len(group) and valued <= VALUED * len(group) and 2 * twice < len(group)


def _is_numbered_twice(words: Sequence[str]) -> bool:
    """Whether an entry opens with its own page number: it is a line of a form, numbered before its text and behind."""
    return words[0].rstrip(".").removesuffix("a") == words[-1].removesuffix("a")


def _parted(
    entries: Sequence[_LeaderEntry], apart: Callable[[_LeaderEntry, _LeaderEntry], bool]
) -> Iterator[list[_LeaderEntry]]:
    """Entries in their order, parted between neighbours that are `apart`."""
    group: list[_LeaderEntry] = []
    for entry in entries:
        if group and apart(group[-1], entry):
            yield group
            group = []
        group.append(entry)
    if group:
        yield group


def _candidates(lines: Sequence[Line], size: float) -> Iterator[_LeaderEntry]:
    """Every run that ends in what may be a page number, with the title that the number belongs to."""
    for row in rows_of(lines):
        for at, run in enumerate(row):
            text = run.text.strip()
            valued = at + 1 < len(row) and is_value(row[at + 1].text)
            if match := _WHOLE.fullmatch(text):
                title = replace(run, text=match["title"])
                yield _entry(row[:at], title, [run], match["page"], (True, valued), size)
            elif at and (match := _ALONE.fullmatch(text)):
                entry = _led_over(row[:at], run, match, valued, size)
                if entry is not None:
                    yield entry


def _led_over(
    before: Sequence[Line], run: Line, match: re.Match[str], valued: bool, size: float
) -> _LeaderEntry | None:
    """The entry whose number is `run`, where a title stands before it, apart or with dots between; `before` are the
    runs to its left."""
    runs, led, rest = [run], bool(match["dots"].strip(" –—-")), list(before)
    while rest and (size_of(rest[-1]) < DOT * size or _END.fullmatch(rest[-1].text)):
        runs.append(rest.pop())
        led = True
    if not rest:
        return None
    title = rest.pop()
    bare = _END.sub("", title.text.rstrip())
    led = led or _SEEN.search(title.text[len(bare) :]) is not None
    if sum(map(str.isalpha, bare)) < 2 or not (led or run.box.left - title.box.right > WORD_GAP * size):
        return None
    return _entry(rest, replace(title, text=bare), [title, *runs], match["page"], (led, valued), size)


def _entry(
    before: Sequence[Line], title: Line, runs: list[Line], page: str, signs: tuple[bool, bool], size: float
) -> _LeaderEntry:
    """The entry of a title and a page. Runs that stand near before the title are of it, as a section's number is."""
    titles = [title]
    for run in reversed(before):
        is_number = _SECTION.fullmatch(run.text.strip()) is not None
        if titles[0].box.left - run.box.right > (NUMBER_GAP if is_number else WORD_GAP) * size:
            break
        titles.insert(0, run)
        if is_number:
            break
    taken = [*runs, *titles[:-1]]
    box = bounds(run.box for run in taken)
    line = join_runs(titles)
    return _LeaderEntry(taken, replace(line, text=f"{line.text}{LEADER}{page}", box=box, run=None), *signs)
