"""Links: from the words they stand on in the file to the same words in an element, and into Markdown.

The layout takes hyphens from lines' ends and marks from list items, so a link is not a place in a text: it is words and
an address, and the words are looked for, letter by letter, when the text is written. Words that are not found lose
their link, and no text is ever changed for one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple
from urllib.parse import quote

from warmwire.layout.page import Box, Element

_TARGET: Final = re.compile(
    r"(?:https?://[^\x00-\x1f\x7f]{3,}|mailto:[^\x00-\x1f\x7f]+@[^\x00-\x1f\x7f]+)", re.IGNORECASE
)
_LOOSE: Final = r"[\s\\\u00ad-]*"
"""What may stand between two letters: spaces, hyphens, the escapes of Markdown."""

_LONGEST: Final = 400
"""Letters of the longest words of a link; what is longer is a page with a link on it."""


class Link(NamedTuple):
    """The words of a link, its address and its place."""

    text: str
    target: str
    box: Box


def is_target(address: str) -> bool:
    """Whether an address leads to the web or a mailbox, and nowhere else."""
    return _TARGET.fullmatch(address) is not None


def place_links(elements: Sequence[Element], links: Iterable[Link]) -> None:
    """Give each link to the element, or the cell of a table, it lies on and whose words it has."""
    last: dict[int, int] = {}  # the cell of each table that had its last link
    for link in sorted(links, key=lambda link: (round(link.box.centre[1]), link.box.left)):
        pattern = _pattern(link.text)
        if pattern is None:
            continue
        x, y = link.box.centre
        for element in elements:
            box = element.box
            if box is None or not (box.left - 2 <= x <= box.right + 2 and box.top - 2 <= y <= box.bottom + 2):
                continue
            if pattern.search(element.text):
                element.links.append((link.text, link.target))
                break
            cells = element.table.cells if element.table is not None else []
            start = last.get(id(element), 0)
            for at in (*range(start, len(cells)), *range(start)):  # the same words may stand in several
                if pattern.search(cells[at].text):
                    cells[at].links.append((link.text, link.target))
                    last[id(element)] = at
                    break
            else:
                continue
            break


def add_links(markdown: str, links: Iterable[tuple[str, str]]) -> str:
    """Escaped text of Markdown with its links, given in the order in which they stand in it."""
    return _with_links(markdown, links, _in_markdown)


def add_html_links(text: str, links: Iterable[tuple[str, str]]) -> str:
    """The same with escaped text of HTML."""
    return _with_links(text, links, lambda words, target: f'<a href="{html.escape(destination(target))}">{words}</a>')


def _with_links(text: str, links: Iterable[tuple[str, str]], link: Callable[[str, str], str]) -> str:
    parts, at = [], 0
    for words, target in links:
        pattern = _pattern(words)
        found = pattern.search(text, at) if pattern is not None else None
        if found is None:
            continue
        parts += [text[at : found.start()], link(found[0], target)]
        at = found.end()
    return "".join([*parts, text[at:]])


def _in_markdown(words: str, target: str) -> str:
    words = re.sub(r"(?<!\\)([\[\]])", r"\\\1", words)
    return f"[{words}]({destination(target)})"


def destination(target: str) -> str:
    """An address as Markdown has it between parentheses."""
    return quote(target, safe="/:?#@!$&'*+,;=%~-._")


def _pattern(text: str) -> re.Pattern[str] | None:
    """Finds words whatever became of the spaces and hyphens in them."""
    letters = [char for char in text if not char.isspace() and char not in "-\u00ad"]
    if not 0 < len(letters) <= _LONGEST:
        return None
    return re.compile(_LOOSE.join(map(re.escape, letters)))
