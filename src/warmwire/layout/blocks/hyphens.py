"""Lines of a paragraph to one text: what becomes of a hyphen at a line's end.

It is one of three things. A word was broken, and the hyphen goes. The word is written with one ("well-known"), and it
stays, tight. Or it stands for a part left out ("Haupt- und Nebensatz"), and stays before its space. The page's own
words know best: whether the joined word or the hyphenated one stands elsewhere inside a line. Then the shape of the two
halves: figures, capitals and single letters are not broken off, and an ending such as "-ing" is written with no hyphen.
Then what words with hyphens begin and end with. A word that none of these knows was broken: where lines are broken at
all, that is by far the more usual.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from warmwire.layout.rows import join_words

_SOFT: Final = "\u00ad"
_HYPHENS: Final = ("-", "‐", "\u2011", _SOFT)
_LONGEST: Final = 60
"""Letters of a word that are looked at, from its hyphen on: no word is longer."""

_REST: Final = re.compile(r"[^\W_]+(?:[-‐\u2011][^\W_]+)*")
_WORD: Final = re.compile(r"[^\W_]{1,60}(?:[-‐\u2011][^\W_]{1,60})*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SUSPENDED: Final = _words("und oder bzw bis sowie and or nor to et ou y o e ed of en och i og tot")
"""Words that follow a hyphen which stands for a part left out."""

_LINKS: Final = _words("of the to in and by on up for a an as at de la le du und so")
"""Small words inside of longer compounds: "state-of-the-art", "daughter-in-law"."""

_ENDINGS: Final = _words(
    """able ably age ages al ally ance ances ant ants ate ated ary ation ations ed en ence ency ent ents er ers ery es
    est ful fully hood ible ic ical ied ier ies iest ily ing ings ion ions ish ism ist ists ities ity ive ized izing
    less ly man men ment ments ness or ors ous ously ship ships sion sions some son sons teen ten ter ters tion tions
    tive ture tures ty ung ungen lich keit heit schaft pone poned pones poning
    fall falls hand land lands light lights time times ware way ways"""
)
"""What ends words without a hyphen: one before it broke the word."""

_FIRST: Final = _words(
    """all anti cross deep demi eight five four full half hard high ill large long low mid new nine non old open post
    pseudo quasi self semi seven short six small so soft three two vice well"""
)
"""What words with hyphens begin with, and others seldom."""

_SECOND: Final = _words(
    """based binding blooded breaking called class containing defined dependent driven educated effective efficient
    established evident eyed footed free friendly funded growing haired handed hearted induced informed intensive
    lasting legged level like linked looking made making mediated minded moving oriented owned poor related resistant
    rich saving scale seeking sharing solving speaking specific standing style taking term trained treated wide winning
    même mêmes là être"""
)
"""What words with hyphens end with, behind a word of its own."""

_JOINING: Final = _words(
    """ab be com con cor counter de dis ex for fore im in inde inter ir mal mis out over pre re sub super trans un under
    up with some any every no there where who what when how"""
)
"""What words without hyphens begin with."""

_TENS: Final = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_UNITS: Final = _words(
    "one two three four five six seven eight nine first second third fourth fifth sixth seventh eighth ninth"
)

_DOUBLING: Final = _words("co de pre re micro contra intra infra ultra extra")
"""Prefixes that take a hyphen before the vowel they end in: "co-operation", "re-entry"."""

_PART: Final = 4
"""Letters of a part that may be a word of its own."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a page or a document that no line's end has touched, and those written with a hyphen."""

    words: frozenset[str] = frozenset()
    compounds: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """The vocabulary of lines. A line's first word may be the rest of a broken one, its last the beginning."""
        words: set[str] = set()
        compounds: set[str] = set()
        for text in texts:
            found = [match[0] for match in _WORD.finditer(text)]
            inner = found[1:-1] if text.rstrip().endswith(_HYPHENS) else found[1:]
            words.update(inner)
            compounds.update(word.lower().replace("‐", "-").replace("\u2011", "-") for word in found if "-" in word)
        return cls(frozenset(words), frozenset(compounds))

    def knows(self, word: str) -> bool:
        """Whether a word stands in the page as it is, or in small letters, or with a capital."""
        return word in self.words or word.lower() in self.words or word.capitalize() in self.words


NOTHING: Final = Vocabulary()


def join_lines(texts: Iterable[str], vocabulary: Vocabulary = NOTHING) -> str:
    """One text of the lines of a paragraph."""
    parts: list[str] = []
    last = ""
    for text in texts:
        text = text.strip()
        if not text:
            continue
        if last.endswith(_HYPHENS):
            shape = _meeting(last, text, vocabulary)
            if shape is _Meeting.BROKEN:
                parts[-1] = last[:-1]
            elif shape is _Meeting.APART:
                parts.append(" ")
        elif last:
            parts.append(join_words((last[-1], text[0]))[1:-1])
        parts.append(text)
        last = text
    return "".join(parts).replace(_SOFT, "")


class _Meeting(Enum):
    """What a hyphen between two lines is."""

    BROKEN = auto()
    WRITTEN = auto()
    APART = auto()


def _meeting(above: str, below: str, vocabulary: Vocabulary) -> _Meeting:
    if above.endswith(_SOFT):
        return _Meeting.BROKEN
    left, rest = _tail(above), _REST.match(below)
    if not left and above[-2:-1] not in (")", "]", "’", "'"):  # a dash, or a hyphen alone
        return _Meeting.APART
    if rest is None:
        return _Meeting.APART
    right = rest[0]
    if right in _SUSPENDED and below[len(right) : len(right) + 1] in ("", " "):
        return _Meeting.APART
    return _Meeting.WRITTEN if not left or _is_written(left, right, vocabulary) else _Meeting.BROKEN


def _tail(text: str) -> str:
    """The word before the hyphen at the end of `text`, with the hyphens inside it."""
    start = end = len(text) - 1
    while start > max(0, end - _LONGEST) and (text[start - 1].isalnum() or text[start - 1] in "-‐\u2011"):
        start -= 1
    return text[start:end].strip("-‐\u2011")


def _is_written(left: str, right: str, vocabulary: Vocabulary) -> bool:
    """Whether a word is written with the hyphen that stands between its two parts."""
    first, second = re.split(r"[-‐\u2011]", left)[-1], re.split(r"[-‐\u2011]", right)[0]
    if vocabulary.knows(first + right):
        return False
    if f"{left}-{right}".lower() in vocabulary.compounds or f"{first}-{second}".lower() in vocabulary.compounds:
        return True
    if len(first) == 1 or first[-1].isdigit() or second[0].isdigit():
        return True
    capitals = first.isupper()
    if second[0].isupper() != capitals:
        return True  # "Meyer-Lansky", "DNA-binding"; else "INTER-NATIONAL" or a word in small letters
    return _by_parts(first.lower(), second.lower(), left != first or right != second, vocabulary)


def _by_parts(first: str, second: str, longer: bool, vocabulary: Vocabulary) -> bool:
    """The same, told by the parts beside the hyphen; `longer` where there are other hyphens around them."""
    if longer and (first in _LINKS or second in _LINKS):
        return True
    if first in _TENS and second in _UNITS:
        return True
    if second in _ENDINGS or (first in _JOINING and first[-1] != second[0]):
        return False
    if first in _FIRST or (first[-1] == second[0] and first in _DOUBLING):
        return True
    if second in _SECOND and len(first) >= _PART:
        return True
    return min(len(first), len(second)) >= _PART and first in vocabulary.words and second in vocabulary.words
