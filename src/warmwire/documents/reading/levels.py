"""Headings and their levels, from the whole document.

One page does not know what the largest heading of a document is, nor its body. Here sizes of all pages are put into
groups (a file's own sizes are exact, recognised ones differ by some per cent); larger groups are higher, a number
such as "2.1" stands below "2" even in the same size, and bold above plain. The levels that are there are counted from
1 without gaps. What the file's own outline says of a heading counts more. Pages whose sizes nobody knows keep the
levels that they came with.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low
from typing import Final

from warmwire.documents.input.outline import Bookmark, depths, same_text
from warmwire.documents.reading.numbering import Numbering, numberings
from warmwire.documents.reading.record import Reading, ReadPage, Route
from warmwire.layout.page import Element, Kind
from warmwire.layout.rows import is_square

EXACT: Final = 0.006
"""How far sizes of one style are from their mean, as a share of it: a file's own are rounded, ..."""
ROUGH: Final = 0.025
"""... those of recognised headings scatter by 1.5 % on most made scans, by 4 % on the worst."""
GROUP_PRICE: Final = 4.0
"""What one more group of sizes must explain, in units of log likelihood: two headings 20 % apart are two sizes."""
_STEPS: Final = 200
"""Sizes are told apart in steps of a two-hundredth of their logarithm, half a per cent."""
DEEPEST: Final = 5
"""Markdown has six levels, and the title takes the first."""

BODY_SHARE: Final = 0.2
"""A size that so many letters of the document are set in is one of the body's."""
SHORT: Final = 100
"""Letters of a paragraph that may be a heading."""
FEWEST: Final = 3
"""So many headings of one style make it one of headings."""
FEWEST_LETTERS: Final = 20
"""Letters of a paragraph that show how large a script is read, and ..."""
MOST_EXCESS: Final = 1.15
"""... how much larger than another it may be for that: 1.06 of a text and 1.10 of a heading set in one size."""
LARGER: Final = 1.08
"""Type this much larger than the body's, in a file's own sizes, is set apart on purpose."""


@dataclass(slots=True)
class _Head:
    """A heading: its place in the order of sizes (`group`, 0 is the largest), whether it is known to be plain among
    bold ones, and how it is counted."""

    element: Element
    page: int
    group: int
    plain: bool
    numbering: Numbering | None

    @property
    def rank(self) -> tuple[str, int]:
        """What it is equal with: headings of its numbering, else those without one of its size and weight."""
        if self.numbering is not None:
            return self.numbering.kind, self.numbering.depth
        return "", 2 * self.group + self.plain


def set_levels(reading: Reading) -> None:
    """Tell headings, and give each its level."""
    _correct(reading.pages)
    _take_named(reading.pages)
    _keep_one_title(reading.pages)
    heads = list(_heads(reading.pages))
    ranks = _levels(heads)
    places = [(head.page, head.element.text) for head in heads]
    outlined = depths(_named(reading.pages), places)
    if not any(outlined):
        outlined = depths(reading.outline, places)
    ranks = _as_outlined(heads, ranks, outlined)
    for head, outline in zip(heads, outlined, strict=True):
        head.element.level = min(outline or ranks[head.rank], DEEPEST)


def _named(pages: Sequence[ReadPage]) -> list[Bookmark]:
    """The headings that the pages themselves name, as an outline."""
    return [Bookmark(level, text, page.record.page) for page in pages for level, text in page.headings]


def _take_named(pages: Sequence[ReadPage]) -> None:
    """Make headings of paragraphs that the file itself calls so."""
    for page in pages:
        names = {same_text(text) for _, text in page.headings}
        for element in page.elements:
            if element.kind is Kind.TEXT and names and same_text(element.text) in names:
                element.kind = Kind.HEADING


def _keep_one_title(pages: Sequence[ReadPage]) -> None:
    """A document has one title, over all headings; others are headings of the highest level, and so are all where the
    pages name several of that level."""
    named = [same_text(text) for page in pages for level, text in page.headings if level == 1]
    opened = False
    for page in pages:
        heads: list[Element] = []
        for element in (element for element in page.elements if element.kind in (Kind.TITLE, Kind.HEADING)):
            later = opened or not all(_stands_over(element, head) for head in heads)
            if element.kind is Kind.TITLE and (later or (len(named) > 1 and same_text(element.text) in named)):
                element.kind, element.level = Kind.HEADING, 1
            opened = opened or element.kind is Kind.TITLE
            heads.append(element)
        opened = opened or bool(heads)


def _stands_over(one: Element, other: Element) -> bool:
    """Whether an element stands higher on its page than another that is read before it, in a column at its side."""
    return one.box is not None and other.box is not None and one.box.top < other.box.top


def _heads(pages: Sequence[ReadPage]) -> Iterator[_Head]:
    """The headings whose sizes are known, in order."""
    found = [(page, e) for page in pages for e in page.elements if e.kind is Kind.HEADING and e.size > 0]
    rough = any(page.record.route is Route.MODEL for page, _ in found)
    square = _square_excess(pages) if rough else 1.0
    sizes = [element.size / (square if is_square(element.text) else 1.0) for _, element in found]
    groups = size_groups(sizes, ROUGH if rough else EXACT)
    counted = numberings([element.text for _, element in found])
    for (page, element), group, numbering in zip(found, groups, counted, strict=True):
        plain = not rough and element.bold is False
        yield _Head(element, page.record.page, group, plain, numbering)


def _square_excess(pages: Sequence[ReadPage]) -> float:
    """How much larger Chinese and Japanese letters of the body are read than Latin ones: they fill their squares."""
    sizes: dict[bool, list[float]] = {True: [], False: []}
    for element in (element for page in pages for element in page.elements):
        if element.kind in (Kind.TEXT, Kind.LIST_ITEM) and element.size > 0 and len(element.text) > FEWEST_LETTERS:
            sizes[is_square(element.text)].append(element.size)
    if not all(sizes.values()):
        return 1.0
    return min(max(median_low(sizes[True]) / median_low(sizes[False]), 1.0), MOST_EXCESS)


def size_groups(sizes: Sequence[float], spread: float) -> list[int]:
    """For each size the number of its group, 0 for the largest.

    Sizes of one group scatter by `spread` around their mean. Of all ways to cut the sizes into groups the likeliest is
    taken, where every further group has a price (`GROUP_PRICE`): a lone size a little off is no group of its own.
    """
    steps = [round(_STEPS * math.log(min(max(size, 1.0), 1000.0))) for size in sizes]
    counts = Counter(steps)
    order = sorted(counts, reverse=True)
    sums = [(0, 0.0, 0.0)]  # of the first sizes: how many, their logarithms, and the squares of these
    for step in order:
        count, log = counts[step], step / _STEPS
        sums.append((sums[-1][0] + count, sums[-1][1] + count * log, sums[-1][2] + count * log * log))
    best = [(0.0, 0)]  # of the first sizes: what the best cut costs, and where its last group begins
    for end in range(1, len(sums)):
        best.append(min((best[start][0] + _scatter(sums[start], sums[end], spread), start) for start in range(end)))
    numbers: dict[int, int] = {}
    end = len(order)
    starts = []
    while end:
        starts.append(best[end][1])
        end = best[end][1]
    bounds = [*reversed(starts), len(order)]
    for number, (start, stop) in enumerate(pairwise(bounds)):
        numbers |= dict.fromkeys(order[start:stop], number)
    return [numbers[step] for step in steps]


def _scatter(before: tuple[int, float, float], until: tuple[int, float, float], spread: float) -> float:
    """What it costs to take the sizes between two sums as one group."""
    count, total, squares = (b - a for a, b in zip(before, until, strict=True))
    return max(0.0, squares - total * total / count) / (2 * spread * spread) + GROUP_PRICE


def _levels(heads: Sequence[_Head]) -> dict[tuple[str, int], int]:
    """The level of each rank: by size, within a size by number and weight."""
    members: dict[tuple[str, int], list[_Head]] = defaultdict(list)
    for head in heads:
        members[head.rank].append(head)
    places = {rank: median_low(head.group for head in own) for rank, own in members.items()}
    for rank in sorted(rank for rank in places if rank[0]):  # what is counted deeper is never higher
        places[rank] = max(places[rank], places.get((rank[0], rank[1] - 1), 0))
    first = {rank: order for order, rank in reversed(list(enumerate(members)))}
    levels: dict[tuple[str, int], int] = {}
    deepest = 0
    for place in sorted(set(places.values())):
        here = [rank for rank in places if places[rank] == place]
        counted = sorted((rank for rank in here if rank[0]), key=lambda rank: (first[rank[0], _top(here, rank)], rank))
        plain = sorted(rank for rank in here if not rank[0])
        levels |= {rank: deepest + 1 + step for step, rank in enumerate(counted)}
        levels |= {rank: deepest + 1 + step for step, rank in enumerate(plain)}
        deepest = max(levels.values())
    return _raised(levels)


def _raised(levels: dict[tuple[str, int], int]) -> dict[tuple[str, int], int]:
    """The same with decimal numbers no deeper than one level below what they count and what is counted above them:
    many sizes above them are noise, or display type."""
    top = min((rank for rank in levels if rank[0] == "decimal"), default=None)
    if top is None:
        return levels
    counted = {rank[0] for rank, level in levels.items() if rank[0] not in ("", "decimal") and level < levels[top]}
    shift = max(0, levels[top] - (2 + len(counted)))
    return {
        rank: level - shift if level >= levels[top] else max(1, min(level, levels[top] - shift - 1))
        for rank, level in levels.items()
    }


def _top(ranks: Sequence[tuple[str, int]], rank: tuple[str, int]) -> int:
    """The highest depth of a rank's numbering among `ranks`."""
    return min(depth for kind, depth in ranks if kind == rank[0])


def _as_outlined(
    heads: Sequence[_Head], levels: dict[tuple[str, int], int], outlined: Sequence[int]
) -> dict[tuple[str, int], int]:
    """The levels of ranks where the file's outline knows some of their headings: those of the outline, others after
    the ones above them."""
    known: dict[tuple[str, int], list[int]] = defaultdict(list)
    for head, depth in zip(heads, outlined, strict=True):
        if depth:
            known[head.rank].append(depth)
    if not known:
        return levels
    settled: dict[tuple[str, int], int] = {}
    above = {0: 0}  # for each level by size, the deepest that ranks up to it have got
    for rank in sorted(levels, key=lambda rank: levels[rank]):
        higher = max(level for own, level in above.items() if own < levels[rank])
        settled[rank] = median_low(known[rank]) if rank in known else higher + 1
        above[levels[rank]] = max(above.get(levels[rank], 0), settled[rank])
    return settled


def _correct(pages: Sequence[ReadPage]) -> None:
    """Mend headings that one page alone misjudges, on pages whose sizes are exact: the body of other pages is no
    heading, and a short line set as the document's headings are is one."""
    own = [page for page in pages if page.record.route is Route.FILE]
    letters: Counter[float] = Counter()
    for page in own:
        letters.update({e.size: 0 for e in page.elements})
        for element in page.elements:
            if element.kind in (Kind.TEXT, Kind.LIST_ITEM):
                letters[element.size] += len(element.text)
    least = BODY_SHARE * sum(letters.values())
    bodies = [size for size, count in letters.items() if size and count > least]
    for element in (e for page in own for e in page.elements if e.kind is Kind.HEADING):
        plain = not element.bold and not element.italic and not element.text.isupper() and element.size > 0
        if plain and any(abs(element.size / size - 1) < 2 * EXACT for size in bodies):
            element.kind = Kind.TEXT
    _promote(own, max(bodies, default=0.0))


def _promote(pages: Sequence[ReadPage], body: float) -> None:
    """Make headings of short paragraphs in a style that headings have and other text has not; or that stand alone
    with type larger than the body's over a paragraph of the body's."""
    styles: dict[_Style, Counter[Kind]] = defaultdict(Counter)
    longest: dict[float, int] = defaultdict(int)
    for element in (element for page in pages for element in page.elements):
        styles[_style(element)][element.kind] += 1
        if element.kind is Kind.TEXT:
            longest[element.size] = max(longest[element.size], len(element.text))
    for page in pages:
        titled = False  # whether only short lines, such as names, stand between it and the title
        for element, after in zip(page.elements, [*page.elements[1:], None], strict=False):  # a page may be empty
            under, titled = titled, element.kind is Kind.TITLE or (titled and len(element.text) <= SHORT)
            if element.kind is not Kind.TEXT or not _may_head(element) or not (element.size > body or element.bold):
                continue
            kinds = styles[_style(element)]
            known = kinds[Kind.HEADING] >= max(FEWEST, 2 * kinds[Kind.TEXT])
            larger = element.size >= LARGER * body > 0 and longest[element.size] <= SHORT
            opens = after is not None and after.kind is Kind.TEXT and after.size < element.size
            alone = not under and opens and len(after.text if after else "") > SHORT
            if (known and not (after is not None and _style(after) == _style(element))) or (larger and alone):
                element.kind = Kind.HEADING


_Style = tuple[float, bool | None, bool | None]


def _style(element: Element) -> _Style:
    return element.size, element.bold, element.italic


def _may_head(element: Element) -> bool:
    """Whether a paragraph's text is short and ends as headings do."""
    text = element.text
    return len(text) <= SHORT and text[-1:].isalnum() and any(char.isalpha() for char in text)
