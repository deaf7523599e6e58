"""Which words of a page belong to which of its elements, in reading order.

A model says where lines stand, and elements say what they mean; their boxes tie the two together, and their texts
decide where boxes do not: a paragraph that goes on in the next column has lines outside its box, and a line in two
pieces may come from the model with the second piece first. The words of a table are dealt out to its cells by their
text, since cells have no boxes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from warmwire.documents.reading.record import ReadPage
from warmwire.layout.page import Box, Cell, Element, Kind
from warmwire.layout.runs import Point, Run


@dataclass(frozen=True, slots=True)
class Share:
    """Words of a page that belong together, as lines or parts of lines: those of an element, of a table's `cell`, or
    of the mark before a list's item. `element` is None for words of a page that has no elements."""

    element: Element | None
    runs: list[Run]
    cell: Cell | None = None
    is_mark: bool = False

    @property
    def text(self) -> str:
        return " ".join(run.text for run in self.runs)


def shares(page: ReadPage) -> Iterator[Share]:
    """The words of a page in its reading order; elements and cells without any are left out."""
    for element, runs in lines_by_element(page):
        if element is not None and element.table is not None:
            yield from _cells(element, element.table.cells, runs)
        elif element is not None and element.kind is Kind.LIST_ITEM:
            yield from _list_item(element, runs)
        else:
            yield Share(element, runs)


def lines_by_element(page: ReadPage) -> list[tuple[Element | None, list[Run]]]:
    """A page's lines in the reading order of the elements that they stand in; elements without any are left out."""
    elements = page.elements
    placed: dict[int, list[tuple[int, Run]]] = defaultdict(list)
    at, cursor = 0, 0
    for run in page.runs or spread_elements(elements):
        inside = [i for i, element in enumerate(elements) if element.box and _holds(element.box, run.middle)]
        words = run.text.rstrip("-")
        found = min(inside, key=lambda i: (_lacks(elements[i], run), _area(elements[i])), default=None)
        if found is None:  # a stray line stands after the one before it, unless an element has its words
            found = next((i for i, element in enumerate(elements) if words in element.text), at)
        place = _place(elements[found].text if elements else "", words, cursor if found == at else 0)
        at, cursor = found, place + len(words)
        placed[at].append((place, run))
    return [
        (elements[i] if elements else None, [run for _, run in sorted(placed[i], key=lambda entry: entry[0])])
        for i in sorted(placed)
    ]


def _place(text: str, words: str, cursor: int) -> int:
    """Where in a text a line's words stand, looked for from `cursor` on first; `cursor` where nowhere."""
    for start in (cursor, 0):
        if (found := text.find(words, start)) >= 0:
            return found
    return cursor


def _holds(box: Box, point: Point) -> bool:
    return box.left <= point[0] <= box.right and box.top <= point[1] <= box.bottom


def _lacks(element: Element, run: Run) -> bool:
    """Whether a line's words are not in an element's text: boxes of neighbours overlap on a page that leans."""
    return element.table is None and f" {run.text} " not in f" {element.text} "


def _area(element: Element) -> float:
    return element.box.area if element.box is not None else 0.0


def _list_item(element: Element, runs: list[Run]) -> Iterator[Share]:
    """The mark printed before an item, where its first line has one, and its words."""
    first = runs[0]
    marks, words = _mark_words(first.words, element), len(first.words)
    if marks:
        yield Share(element, [_part(first, range(marks))], is_mark=True)
        runs = [*([_part(first, range(marks, words))] if marks < words else []), *runs[1:]]
    if runs:
        yield Share(element, runs)


def _mark_words(words: Sequence[str], element: Element) -> int:
    """How many words at the start of an item's first line are its mark and no part of its text."""
    if words[:1] == element.text.split()[:1]:
        return 0
    mark = "".join(element.marker.split())
    for count in range(1, min(len(words), len(mark)) + 1):
        if "".join(words[:count]) == mark:
            return count
    return int(not any(map(str.isalnum, words[0])))


def _cells(element: Element, cells: Sequence[Cell], runs: Sequence[Run]) -> Iterator[Share]:
    """Words dealt out to the cells of a table. A word that no cell has stays with its neighbour in the line."""
    words = [(run, number) for run in runs for number in range(len(run.words))]
    free: dict[str, list[int]] = defaultdict(list)
    for at, (run, number) in enumerate(words):
        free[run.words[number]].append(at)
    owner: dict[int, int] = {}
    for index, cell in enumerate(cells):
        before = -1
        for word in cell.text.split():
            places = free.get(word)
            if places:
                before = places.pop(places.index(before + 1) if before + 1 in places else 0)
                owner[before] = index
    last = min(owner.items(), default=(0, 0))[1]
    dealt: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    order = {id(run): number for number, run in enumerate(runs)}
    for at, (run, number) in enumerate(words):
        last = owner.get(at, last)
        dealt[last][order[id(run)]].append(number)
    for index, lines in sorted(dealt.items()):
        parts = [_part(runs[line], numbers) for line, numbers in lines.items()]
        yield Share(element, parts, cells[index] if cells else None)


def _part(run: Run, numbers: Iterable[int]) -> Run:
    """A line with some of its words only, each where it was."""
    chosen = list(numbers)
    words, spans = run.words, run.spans
    text = " ".join(words[number] for number in chosen)
    return Run(text, run.corner, run.along, run.across, tuple(spans[number] for number in chosen), run.confidence)


def spread_elements(elements: Iterable[Element]) -> Iterator[Run]:
    """Lines for what came without any, as of a model that gives boxes of paragraphs only: each element's words spread
    over its box, in lines of a usual shape."""
    for element in elements:
        if element.box is None or element.box.area <= 0:
            continue
        if element.table is not None:
            rows = [[cell.text for cell in element.table.cells if cell.row == row] for row in range(element.table.rows)]
            lines = [" ".join(filter(None, row)) for row in rows]
        else:
            lines = _wrapped(element.text, element.box)
        step = element.box.height / max(len(lines), 1)
        for number, text in enumerate(lines):
            if words := text.split():
                ends = [0]
                for word in words:
                    ends.append(ends[-1] + len(word) + 1)
                letters = ends[-1] - 1
                spans = tuple((start / letters, (end - 1) / letters) for start, end in pairwise(ends))
                corner = (element.box.left, element.box.top + number * step)
                yield Run(" ".join(words), corner, (element.box.width, 0.0), (0.0, 0.8 * step), spans)


def _wrapped(text: str, box: Box) -> list[str]:
    """Text cut into as many lines as its box has room for letters that are half as wide as they are high."""
    words = text.split()
    letters = max(len(" ".join(words)), 1)
    count = max(1, round(math.sqrt(letters * 0.42 * box.height / box.width)))
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) + 1 > math.ceil(letters / count) + 2:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return [*lines, line] if line else lines
