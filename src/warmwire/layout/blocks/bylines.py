"""Lines under a title that say who wrote the text, and when: set larger than the body often, they head nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from warmwire.layout.blocks.paragraphs import Paragraph

CENTRED = 2.0
"""The middles of a title and of what is centred under it are no further apart than this, in units of the body."""
LONGEST = 12
"""Words of the longest line of names."""

_DATE = re.compile(r"\b(?:19|20)\d\d\b|@")
_BETWEEN = re.compile(
    r"(?:and|und|et|y|e|de|da|di|del|della|den|der|du|van|von|la|le|al\.|dr|prof\.|ph\.d\.|md)\b", re.I
)
_ARTICLE = re.compile(r"(?:a|an|the|der|die|das|eine?|le|la|les|une?|el|los|il|lo)\s", re.I)


def bylines(
    title: Paragraph, texts: Sequence[Paragraph], headings: Collection[int], size: float
) -> Iterator[Paragraph]:
    """Those of a page's `headings` (ids) that follow its centred title, are centred and plain like it, and are names or
    a date."""
    at = next(i for i, part in enumerate(texts) if part is title)
    middle = title.box.centre[0]
    for part in texts[at + 1 :]:
        if id(part) not in headings:
            return
        centred = all(abs(line.box.centre[0] - middle) < CENTRED * size for line in part.lines)
        if part.bold or part.size >= title.size or not centred or not all(map(_says_so, part.texts)):
            return
        yield part


def _says_so(text: str) -> bool:
    """Whether a line is a date, an address of mail, or names."""
    if _DATE.search(text):
        return True
    words = re.sub(r"[^\w\s.'’-]|[\d*†‡§∗]+", " ", text).split()
    names = [word for word in words if not _BETWEEN.fullmatch(word.rstrip("."))]
    if not 2 <= len(names) <= LONGEST or _ARTICLE.match(text):
        return False
    return all(word[0].isupper() for word in names)
