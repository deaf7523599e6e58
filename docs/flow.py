"""A way through processes and threads as a picture: lanes side by side, steps down, an arrow from each to the next.

The source is text. `== title` begins a picture, `LANE | what happens` is a step, in the order of time; a lane is a
thread, named with its process before a comma, and gets its place when it is first named. `LANE | ... >>` draws the
step's arrow to the next one dotted: what travels there is the answer.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from html import escape
from typing import Final

LANE: Final = 196
BOX: Final = 172
LINE: Final = 16
GAP: Final = 22
HEAD: Final = 50
LETTERS: Final = 25
"""Letters on a line of a box."""

STYLE: Final = """
text { font: 12px sans-serif; fill: #1f2328; text-anchor: middle }
.title { font-size: 17px; font-weight: bold; text-anchor: start }
.lane { fill: #f6f8fa; stroke: #d0d7de }
.process { font-weight: bold }
.step { fill: #ffffff; stroke: #57606a }
.way { fill: none; stroke: #0969da; stroke-width: 1.6; marker-end: url(#tip) }
.answer { stroke-dasharray: 5 4 }
"""


@dataclass(slots=True)
class Step:
    """One box: its lane, what it says, and whether an answer leaves it."""

    lane: str
    lines: list[str]
    answers: bool
    top: int = 0

    @property
    def height(self) -> int:
        return LINE * len(self.lines) + 14


@dataclass(slots=True)
class Picture:
    """One way."""

    title: str
    steps: list[Step] = field(default_factory=list)

    @property
    def lanes(self) -> list[str]:
        return list(dict.fromkeys(step.lane for step in self.steps))


def parsed(text: str) -> list[Picture]:
    """The pictures of a source; lines that begin with # are remarks."""
    pictures: list[Picture] = []
    for line in text.splitlines():
        if line.startswith("== "):
            pictures.append(Picture(line[3:].strip()))
        elif "|" in line and not line.startswith("#"):
            lane, _, said = (part.strip() for part in line.partition("|"))
            answers = said.endswith(">>")
            pictures[-1].steps.append(Step(lane, textwrap.wrap(said.removesuffix(">>"), LETTERS), answers))
    return pictures


def drawn(text: str) -> str:
    """A source as SVG, its pictures one below the other."""
    parts: list[str] = []
    top, width = 0, 0
    for picture in parsed(text):
        width = max(width, LANE * len(picture.lanes) + 20)
        top = _draw(picture, top, parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}" height="{top}">'
    tip = '<marker id="tip" markerWidth="9" markerHeight="9" refX="7" refY="4" orient="auto">'
    tip += '<path d="M0 0 L8 4 L0 8 z" fill="#0969da"/></marker>'
    back = f'<rect width="{width}" height="{top}" fill="#ffffff"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", f"<defs>{tip}</defs>", back, *parts, "</svg>", ""])


def _draw(picture: Picture, top: int, parts: list[str]) -> int:
    """Draw one picture below `top`; returns where it ends."""
    parts.append(f'<text class="title" x="10" y="{top + 26}">{escape(picture.title)}</text>')
    top += 40
    y = top + HEAD + GAP
    for step in picture.steps:
        step.top = y
        y += step.height + GAP
    places = {lane: 10 + LANE * i for i, lane in enumerate(picture.lanes)}
    for lane, x in places.items():
        process, _, thread = (word.strip() for word in lane.partition(","))
        middle = x + BOX // 2
        parts.append(f'<rect class="lane" x="{x}" y="{top}" width="{BOX}" height="{y - top}" rx="6"/>')
        parts.append(f'<text class="process" x="{middle}" y="{top + 22}">{escape(process)}</text>')
        parts.append(f'<text x="{middle}" y="{top + 39}">{escape(thread)}</text>')
    for step, after in zip(picture.steps, picture.steps[1:], strict=False):
        parts.append(_arrow(step, after, places))
    for step in picture.steps:
        x = places[step.lane] + 8
        parts.append(f'<rect class="step" x="{x}" y="{step.top}" width="{BOX - 16}" height="{step.height}" rx="4"/>')
        for i, line in enumerate(step.lines):
            y_text = step.top + 19 + LINE * i
            parts.append(f'<text x="{x + BOX // 2 - 8}" y="{y_text}">{escape(line)}</text>')
    return y + 20


def _arrow(step: Step, after: Step, places: dict[str, int]) -> str:
    """Down within a lane; else out of the side and down onto the next box."""
    start, end = places[step.lane], places[after.lane]
    kind = "way answer" if step.answers else "way"
    target = end + BOX // 2
    if start == end:
        return f'<path class="{kind}" d="M{target} {step.top + step.height} V{after.top - 1}"/>'
    side = start + BOX - 8 if end > start else start + 8
    return f'<path class="{kind}" d="M{side} {step.top + step.height // 2} H{target} V{after.top - 1}"/>'
