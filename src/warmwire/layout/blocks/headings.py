"""Which paragraphs are headings, and the first guess of their level.

A heading is a short paragraph that stands out and heads something. It stands out by size, by weight, by capitals, by a
printed number, by being one of the words that head a part of nearly every report; how far a size must stand out depends
on how much the page's sizes stray of themselves. What stands out and heads nothing is told by what it says: values,
labels, formulas, sums, names in a row, whole sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from warmwire.layout.blocks.paragraphs import Paragraph
from warmwire.layout.measures import INDENT, has_ended, is_capital
from warmwire.layout.rows import is_value, size_of

LARGER = 1.18
"""A paragraph this much larger than the body is set apart by its size alone where sizes are recognised, ..."""
EXACT_EXCESS = 0.08
"""... and larger by this share of the body where they are the file's own."""
NUMBERED = 1.07
"""... and one that opens with a section number when it is that much larger."""
TITLE = 1.5
"""The largest text of a page is its title from this size on."""
SMALLEST = 0.75
"""Capitals of a heading are set no smaller than this: small capitals are about 0.8."""
CAPITALS = 6
"""Letters of capitals that are a heading without being bold; fewer are a stamp, a logo, an abbreviation."""
SENTENCE = 60
"""A numbered line that ends in a full stop is a heading up to this many letters, and a sentence beyond."""
LONGEST = 200
"""Letters of the longest heading."""
PLAIN = 80
"""Letters of the longest plain line that heads a text, ..."""
MOST_WIDE = 0.7
"""... its width as a share of the text's, ..."""
APART = 0.4
"""... the white above it, in units of its size: lines of one text have less than 0.2, ..."""
MOST_PLAIN = 2
"""... and how many may follow each other: more are an address."""
FAR = 3.0
"""White that sets it apart from a heading too: names stand closer to what they belong to."""
_LEVELS = (1.27, 1.1)

_NUMBER = re.compile(
    r"(?:(?:chapter|section|part|kapitel|teil|chapitre|capítulo|abschnitt)\s+)?"
    r"(\d{1,2}(?:\.\d{1,2}){0,4}|[A-H](?:\.\d{1,2}){1,4})[.)]?\s+(?=\D)",
    re.I,
)
_NAMED = re.compile(
    r"(?:(?:\d{1,2}|[IVX]{1,4}|[A-Z])[.:)]?\s+)?(?:abstract|acknowledge?ments?|appendix|appendices|bibliography"
    r"|conclusions?|contents|table of contents|discussion|foreword|glossary|index|introduction"
    r"|(?:materials and )?methods|preface|references|results|(?:executive )?summary|zusammenfassung"
    r"|einleitung|inhalt(?:sverzeichnis)?"
    r"|literatur(?:verzeichnis)?|vorwort|anhang|danksagung|résumé|introducción|introduzione|bibliographie|références"
    r"|sommaire|remerciements|annexes?|resumen|índice|referencias|bibliografía|indice|riassunto|bibliografia"
    r"|samenvatting|inhoud|摘要|参考文献|目录|目次)",
    re.I,
)
_WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_DATE = re.compile(r"(?:^|,|\s)\d{1,2}\.?\s+[^\W\d_]{3,}\.?\s+(?:19|20)\d\d$|\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d\d$")
_SPAN = re.compile(
    r"[,|·(:]\s*(?:19|20)\d\d\s?[-–—]\s?(?:(?:19|20)\d\d|\w{3,8})\)?$|^(?:19|20)\d\d\s?[-–—]\s?(?:19|20)\d\d\s"
)
"""Years from and to, set off, at either end: a post or a school of somebody's life."""
_MATHS = re.compile(r"[=<>≤≥≈≠∑∫√∏∂∞∈⊂∪∩±×÷→⇒]")
_STOPS = (".", ";", ",", "。", "，", "；")


@dataclass(frozen=True, slots=True)
class Look:
    """What a page's text looks like, against which headings stand out."""

    size: float
    exact: bool
    """Whether sizes are the file's own, to the point."""
    bold: float
    capital: float
    """The shares of its letters that are bold, and of its lines that are capitals throughout."""

    @classmethod
    def of(cls, paragraphs: Sequence[Paragraph], size: float) -> Look:
        """The look of the paragraphs of a page."""
        lines = [line for paragraph in paragraphs for line in paragraph.lines]
        letters = sum(len(line.text) for line in lines) or 1
        same = sum(len(line.text) for line in lines if abs(size_of(line) - size) < 0.01 * size)
        return cls(
            size,
            same > 0.4 * letters and len(lines) > 3,
            sum(len(line.text) for line in lines if line.bold) / letters,
            sum(is_capital(line.text) for line in lines) / max(len(lines), 1),
        )


def is_heading(before: Paragraph | None, paragraph: Paragraph, following: Paragraph | None, look: Look) -> bool:
    """Whether a paragraph heads what follows; `before` is what stands above it."""
    text = " ".join(line.text for line in paragraph.lines).strip()
    if not _may_head(paragraph, text) or _runs_on(before, text, following):
        return False
    ratio = paragraph.size / look.size
    sentence = text.endswith(_STOPS) and len(text) > 40
    numbered = _NUMBER.match(text) is not None
    if ratio >= (1 + EXACT_EXCESS if look.exact else LARGER) and not _are_names(text):
        if ratio < LARGER and text.endswith(_STOPS):
            return numbered and len(text) < SENTENCE
        return not sentence or ratio >= TITLE or (numbered and len(text) < SENTENCE)
    if _NAMED.fullmatch(text.rstrip(":. ")) and ratio > SMALLEST:
        return _stands_alone(paragraph, following)
    if text.endswith((":", *_STOPS)) and not (numbered and paragraph.bold and text.endswith(".")):
        return False
    if len(paragraph.lines) > 2 or len(text) > 100:
        return False
    if ":" in text and is_value(text.split(":", 1)[1]):  # a label and its value
        return False
    if ratio >= SMALLEST and is_capital(text) and look.capital < 0.3 and following is not None:
        short = paragraph.bold and not is_capital(following.lines[0].text)
        if short or (_is_prose(following) and len(text) >= CAPITALS):
            return True
    if ratio < 0.94:
        return False
    if numbered and ratio >= NUMBERED:
        return True
    if paragraph.bold and look.bold < 0.7 and not _SPAN.search(text):
        return following is None or not following.bold or paragraph.size > NUMBERED * following.size
    return False


def plain_heads(texts: Sequence[Paragraph], known: Sequence[Paragraph], look: Look) -> list[Paragraph]:
    """Headings of a scan on which no bold type was told, besides those `known`: small print blurs, and typewriters have
    none. A line alone, or two, with white around and no sentence's end, between an ended paragraph and the next.

    Of 28 such lines in public files, whose weights are known, 27 were headings. Below a heading such lines are names.
    """
    if any(part.bold for part in known) or any(line.mono is not None for part in texts for line in part.lines):
        return []
    heads = {id(part) for part in known}
    found: list[Paragraph] = []
    run: list[Paragraph] = []
    opened = False  # whether what stands above lets a heading follow
    for before, part in zip((None, *texts), texts, strict=False):
        if id(part) not in heads and _is_alone(before, part):
            far = before is not None and part.box.top - before.box.bottom > FAR * part.size
            opened = opened or (far and not run)
            run.append(part)
            continue
        if 0 < len(run) <= MOST_PLAIN and opened and _is_headed(run, part, look):
            found += run
        run, opened = [], id(part) not in heads and _is_prose(part) and has_ended(part.lines[-1].text)
    return found


def _is_alone(before: Paragraph | None, part: Paragraph) -> bool:
    """Whether a paragraph is one short line set apart from what stands above, and no sentence, value, label or item."""
    text = part.lines[0].text.strip()
    apart = before is None or not 0 <= part.box.top - before.box.bottom < APART * part.size
    return (
        apart
        and len(part.lines) == 1
        and part.marker is None
        and CAPITALS <= len(text) <= PLAIN
        and text[0].isupper()
        and not text.endswith((":", *_STOPS))
        and 4 * sum(map(str.isdigit, text)) < len(text)
        and not _SPAN.search(text)
        and _may_head(part, text)
    )


def _is_headed(heads: Sequence[Paragraph], part: Paragraph, look: Look) -> bool:
    """Whether lines stand over a paragraph as its headings do: short, at its left edge or over its middle."""
    box = part.box
    return (
        len(part.lines) > 1
        and _is_prose(part)
        and heads[-1].box.centre[1] < box.top
        and all(
            head.size >= part.size / NUMBERED
            and head.box.width < MOST_WIDE * box.width
            and (
                abs(head.box.left - box.left) < INDENT * look.size
                or abs(head.box.centre[0] - box.centre[0]) < INDENT * look.size
            )
            for head in heads
        )
    )


def _may_head(paragraph: Paragraph, text: str) -> bool:
    """Whether a paragraph may be a heading for what it says, whatever it looks like."""
    if paragraph.entry or (paragraph.marker is not None and not paragraph.marker.ordered):
        return False
    if _DATE.search(text) and paragraph.marker is None and len(text) < 32:
        return False
    if len(text) > LONGEST or len(paragraph.lines) > 4 or not _WORD.search(text):
        return False
    letters = sum(char.isalpha() for char in text)
    if is_value(text) and not (letters >= 6 and letters > sum(char.isdigit() for char in text)):
        return False
    return not (_MATHS.search(text) and len(_WORD.findall(text)) < 3)


def _runs_on(before: Paragraph | None, text: str, following: Paragraph | None) -> bool:
    """Whether a text is the middle of a sentence, as lines are whose size was read wrong."""
    goes_on = text[0].islower() and before is not None and not has_ended(before.lines[-1].text)
    runs_on = (
        following is not None
        and following.marker is None
        and following.lines[0].text[:1].islower()
        and len(text) > 30
        and not _NUMBER.match(text)
    )
    return goes_on or (runs_on and not has_ended(text))


def _are_names(text: str) -> bool:
    """Whether a text is names in a row, as the authors of a paper are given."""
    parts = re.split(r",|;|\band\b|\bund\b|&", text)
    return len(parts) > 2 and all(len(part.split()) < 5 for part in parts) and text.count(",") > 1


def _stands_alone(paragraph: Paragraph, following: Paragraph | None) -> bool:
    return len(paragraph.lines) == 1 and (
        following is None or following.marker is not None or following.entry or _is_prose(following)
    )


def _is_prose(paragraph: Paragraph | None) -> bool:
    """Whether a paragraph is text that a heading may head."""
    if paragraph is None:
        return False
    text = " ".join(line.text for line in paragraph.lines)
    return len(text) > 60 and not is_capital(text)


def level_of(paragraph: Paragraph, size: float) -> int:
    """1 for the highest level below the title, up to 3, or as deep as the printed number goes."""
    match = _NUMBER.match(paragraph.lines[0].text)
    if match:
        return min(match[1].count(".") + 1, 6)
    return 1 + sum(paragraph.size / size < step for step in _LEVELS)


def title_of(opening: Sequence[Paragraph], headings: Sequence[Paragraph], size: float) -> Paragraph | None:
    """The page's title: the first of all `headings` when it is among those before any text (`opening`), much larger
    than the body and larger than the others."""
    if not opening or opening[0].size < TITLE * size or _NUMBER.match(opening[0].lines[0].text):
        return None
    title = opening[0]
    return title if all(other is title or other.size < 0.95 * title.size for other in headings) else None
