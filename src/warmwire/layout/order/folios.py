"""What the words of a line say of its being a running head or foot: page numbers, notices, dates, addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Final

LONGEST: Final = 80
"""Letters of a line that is prose when nothing else tells."""

_ROMAN = r"(?=[ivxlcdm])m{0,3}(?:c[md]|d?c{0,3})(?:x[cl]|l?x{0,3})(?:i[xv]|v?i{0,3})"
_PAGE = r"(?:pages?|seite|sheet|blatt|página|pág\.|pagina|pag\.|folio|strona|sida|side|стр\.|p\.|s\.|第)"
_OF = r"(?:/|of|von|de|sur|di|van|av|af|из)"
_FOLIO = re.compile(
    rf"[-–—·|•\s\[(]*(?:{_PAGE}\s*)?(?:(?:[A-Z]{{1,2}}-)?\d{{1,5}}|{_ROMAN})(?:\s*{_OF}\s*\d{{1,4}})?\s*[页頁]?"
    r"[-–—·|•\s\])]*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    rf"(?:^|\s){_PAGE}\s*\d{{1,4}}(?:\s*{_OF}\s*\d{{1,4}})?(?:$|\s)|(?:^|\s)\d{{1,4}}\s?/\s?\d{{1,4}}$", re.IGNORECASE
)
_NOTICE = re.compile(
    r"©|\(c\)\s*\d{4}|copyright|all rights reserved|alle rechte|tous droits|downloaded from|heruntergeladen|téléchargé"
    r"|https?://|www\.|\bdoi\b|\bissn\b|confidential|vertraulich|confidentiel|licensed (?:to|under)|printed on"
    r"|\bvol(?:ume|\.)\s?\d+\W"
    r"|^\w+(?:\.\w+)*\.(?:com|org|net|edu|gov|info|de|fr|uk|eu|ch|at)$",
    re.IGNORECASE,
)
_FIGURED = re.compile(r"\d{1,4}\s+\D.*|.*\D\s\d{1,4}", re.DOTALL)
_BOOK = re.compile(r"\d{3}\s+\D{4,}|\D{4,}\s\d{3}")
"""With capitals, a page of a book and its title or chapter: parts of a text are numbered with one or two figures."""
_DATE = re.compile(
    r"(?:[^\W\d_]+,?\s+(?:den\s+|le\s+|the\s+)?)?"
    r"(?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d\d-\d\d|\d{1,2}\.?\s+(?:de\s+)?[^\W\d_]{3,10}\.?,?\s+(?:de\s+)?\d{4}"
    r"|[^\W\d_]{3,9}\.?\s+\d{1,2},\s+\d{4})"
)
_LABEL = re.compile(r"[^\W\d_][^:：\d]{1,30}[:：]\s*\S*\d")
_ADDRESS = re.compile(r"\btel\b|\bphone\b|telephone|telefon|\w@\w", re.IGNORECASE)
_NOTE = re.compile(r"[¹²³⁴-⁹*†‡§]\s?\w|\(?\d{1,2}\)?\.?\s*(?:https?://|www\.)", re.IGNORECASE)
_NUMBER = re.compile(r"\(?(\d{1,2})[).]?\s+\S")
_CAPTION = re.compile(r"(?:fig|tab|figure|table|abbildung|tabelle|tableau|figura|tabla)\w*\.?\s*\d", re.IGNORECASE)


class Sign(IntEnum):
    """How much a line's words speak for its being a running one; the numbers are points (see `furniture`)."""

    NONE = 0
    WEAK = 1  # as many running lines are, and others too: capitals, a figure at either end
    NAMED = 2  # a page number among words, a notice of the publisher
    FOLIO = 3  # a page number and nothing else


def sign_of(text: str) -> Sign:
    """What a line's words say by themselves."""
    text = text.strip()
    if _FOLIO.fullmatch(text):
        return Sign.FOLIO
    if len(text) > 2 * LONGEST:
        return Sign.NONE
    if _NUMBERED.search(text) or _NOTICE.search(text) or (text.isupper() and _BOOK.fullmatch(text)):
        return Sign.NAMED
    weak = _FIGURED.fullmatch(text) or (text.isupper() and len(text) > 3)
    return Sign.WEAK if weak and len(text) <= LONGEST and not is_content(text) else Sign.NONE


def is_content(text: str) -> bool:
    """Whether a line says something that running lines do not: a label and its value, a date alone, a caption."""
    text = text.strip()
    if _NUMBERED.search(text):
        return False
    return bool(text.endswith((":", "：")) or _LABEL.match(text) or _DATE.fullmatch(text) or _CAPTION.match(text))


def is_address(text: str) -> bool:
    """Whether a line says how to reach somebody, as letterheads do."""
    return bool(_ADDRESS.search(text)) and not _NUMBERED.search(text)


def are_notes(texts: Sequence[str]) -> bool:
    """Whether rows, from the outside in, are footnotes: one opens with a mark or with a number and an address, or two
    with numbers that follow."""
    numbers = [int(match[1]) for text in texts if (match := _NUMBER.match(text.strip()))]
    counted = any(lower == upper + 1 for lower, upper in pairwise(numbers))
    return counted or any(_NOTE.match(text.strip()) for text in texts)


def goes_on(text: str) -> bool:
    """Whether a line is a piece of running text: long, or begun inside a sentence."""
    text = text.strip()
    return len(text) > LONGEST or (text[:1].islower() and text.count(" ") >= 2)
