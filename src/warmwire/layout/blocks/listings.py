"""Listings on scans, where nobody knows a typewriter's font: told by what code looks like.

Code has signs that prose has not: it ends statements in semicolons and braces, assigns, calls, compares, opens with the
words of its language. One such line is a name in a text. Lines under each other most of which have such signs are a
listing; its other lines are short, or inside strings. Numbers counted beside its lines are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from typing import Final

from warmwire.layout.page import Line
from warmwire.layout.rows import same_row, size_of

FEWEST: Final = 3
"""Lines with signs of code, of the shortest listing, ..."""
SHARE: Final = 0.6
"""... and their share of its lines: 5 of 6 on scanned listings. Of 8,200 long lines of public pages 52 have any, and of
these none stand together."""
MOST_PLAIN: Final = 2
"""Lines without any that may follow each other inside."""
LETTERS: Final = 3
"""Letters and figures for each line with signs: signs alone are formulas or keys."""
STEP: Final = 3.0
"""Lines of a listing are no further apart, in units of their size: common leading and an empty line."""
ALIKE: Final = 1.25
"""Sizes of its lines differ by less than this factor: code is short, and its few letters measure badly."""
REACH: Final = 6.0
"""Numbers of lines stand no further left of the code than this, in units of its size."""

LONGEST: Final = 200
"""Letters of a line of code."""

_WORDS = (
    r"def|class|return|import|from|elif|else|try|except|finally|raise|assert|print|public|private|protected|static|void"
    r"|int|char|float|double|bool|const|let|var|function|struct|enum|typedef|namespace|using|template|package|func|fn"
    r"|sudo|echo|export|SELECT|INSERT|UPDATE|CREATE"
)
_CODE = re.compile(
    rf"""(?:\w\(|=|\w\[|->|\+\+|--).*;\s*(?:(?://|\#|/\*).*)?$   # a statement that calls or assigns, and a comment
    |[{{}}]\s*(?:(?://|\#|/\*).*)?$                        # a block's end or beginning
    |^[{{}}\[\]()]+[;,]?$                                  # a bracket alone
    |^\#\s?(?:include|define|if|endif|ifdef|!)             # a preprocessor's line
    |^(?://|/\*|\*/|>>>\s|\$\s)                            # a comment, a prompt
    |^(?:(?:el)?if|while|with|except|def|class)\s(?:.*[<>=(.\[_].*|\w+):$|^for\s\w+\s(?:in|=)\s.*:$|^(?:else|try):$
    |^(?:{_WORDS})\b.*[()=;{{]
    |^(?:return|import|from|continue|break|pass)(?:\s+[\w.*,()\s/+-]+)?$
    |^[\w.\[\]>*&-]+\s?(?:[-+*/|&^%]|<<|>>)?=\s?[^=\s].*$  # an assignment
    |^[\w.]+\([^)]*\)$                                     # a call alone
    |==|!=|->|=>|\+=|-=|&&|\|\||::|\(\)|\[\]|\+\+
    """,
    re.VERBOSE,
)
_NUMBER = re.compile(r"\d{1,4}")
_PROSE = re.compile(r"[^\W\d_]+(?:[,;:]?\s+[^\W\d_]+){7}")
"""Eight words on end."""


@dataclass(slots=True)
class _Block:
    """Lines under each other that begin and end with code; `plain` are those after the last that has signs of it."""

    lines: list[Line] = field(default_factory=list)
    plain: list[Line] = field(default_factory=list)
    signs: int = 0
    left: float = 0.0
    right: float = 0.0


def is_code(text: str) -> bool:
    """Whether a line has signs of code and is no sentence."""
    text = text.strip()
    return len(text) <= LONGEST and _CODE.search(text) is not None and _PROSE.search(text) is None


def with_listings(lines: Sequence[Line], size: float) -> tuple[list[Line], list[Line]]:
    """`lines` with those of listings set in a typewriter's font, and the numbers that stand beside them."""
    if sum(line.mono is None and is_code(line.text) for line in lines) < FEWEST:
        return list(lines), []
    typed: dict[int, Line] = {}
    numbers: dict[int, Line] = {}
    for block in _blocks(lines, size):
        usual = median(map(size_of, block.lines))
        typed |= {id(line): replace(line, mono=True, size=usual, bold=False) for line in block.lines}
        numbers |= {id(line): line for line in _numbers(block, lines, usual)}
    return [typed.get(id(line), line) for line in lines if id(line) not in numbers], list(numbers.values())


def _blocks(lines: Sequence[Line], size: float) -> list[_Block]:
    """The listings among lines."""
    under: list[_Block] = []
    done: list[_Block] = []
    plain = [line for line in lines if line.mono is None and not _NUMBER.fullmatch(line.text.strip())]
    for line in sorted(plain, key=lambda line: line.box.centre[1]):
        done += [block for block in under if not _is_near(block, line)]
        under = [block for block in under if _is_near(block, line)]
        block = next((block for block in under if _continues(block, line, size)), None)
        if is_code(line.text):
            if block is None:
                block = _Block(left=line.box.left, right=line.box.right)
                under.append(block)
            block.lines += [*block.plain, line]
            block.plain = []
            block.signs += 1
            block.left, block.right = min(block.left, line.box.left), max(block.right, line.box.right)
        elif block is not None:
            block.plain.append(line)
    return [block for block in (*done, *under) if _is_listing(block)]


def _is_listing(block: _Block) -> bool:
    letters = sum(map(str.isalnum, "".join(line.text for line in block.lines)))
    return block.signs >= max(FEWEST, SHARE * len(block.lines)) and letters >= LETTERS * block.signs


def _is_near(block: _Block, line: Line) -> bool:
    last = (block.plain or block.lines)[-1]
    return line.box.centre[1] - last.box.centre[1] < STEP * size_of(last) and len(block.plain) <= MOST_PLAIN


def _continues(block: _Block, line: Line, size: float) -> bool:
    """Whether a line stands under those of a listing, in about their size."""
    last = block.lines[-1]
    alike = max(size_of(last), size_of(line)) < ALIKE * min(size_of(last), size_of(line))
    return alike and block.left - size < line.box.left < max(block.right, block.left + 10 * size)


def _numbers(block: _Block, lines: Sequence[Line], size: float) -> list[Line]:
    """The numbers of a listing's lines: figures left of it, counted by one, empty lines as well."""
    top, bottom = block.lines[0].box.top - size, block.lines[-1].box.bottom + 2 * STEP * size
    beside = [
        line
        for line in lines
        if _NUMBER.fullmatch(line.text.strip())
        and block.left - REACH * size < line.box.left
        and line.box.right < block.left
        and top < line.box.centre[1] < bottom
    ]
    values = [int(line.text) for line in sorted(beside, key=lambda line: line.box.centre[1])]
    rises = sum(below == above + 1 for above, below in pairwise(values))
    level = sum(any(same_row(line.box, own.box) for own in block.lines) for line in beside)
    return beside if rises >= 0.8 * (len(values) - 1) and level >= 0.5 * len(block.lines) else []
