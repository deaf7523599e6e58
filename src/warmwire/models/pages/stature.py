"""How tall the letters of a line stand: the size of its font, from ink whose letter is known.

A font shows its size in a few heights above the baseline: small letters without ascender, ascenders, capitals and
digits each have their own. Which of them a line has is known from its text, so a line of capitals and one of small
letters can be of one size, and nothing that is not a letter of the line, as ink of its neighbours, takes part. How
these heights stand to each other differs from font to font and is learned from the page. Each line alone is known to
a fraction of a pixel for its many letters, or badly for its few; so lines that agree within their error get one size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

import numpy as np
from numpy.typing import NDArray

from warmwire.models.pages.signs import plain

CAPITAL_EM = 0.70
"""Height of a capital in units of the font size: 0.66 (Times) to 0.73 (Verdana)."""
FULL_EM = 0.88
"""Height of a Chinese or Japanese letter likewise."""
SAME = 0.04
"""Sizes of lines that differ by less are one: the error of a line of twenty letters, at 200 dots per inch, is 0.02."""
STRAY = 0.3
"""A letter's ink is nearer to its place than that, in heights of the line's picture: the recogniser's own step is
a sixth."""
BARE = 1.12
"""A small letter with a sign above it stands at least 1.3 times as high as one without."""
BLUR = 0.5
"""Error of one letter's height, in pixels of the line's picture ..."""
PIXEL = 0.4
"""... and what remains with many, in pixels of the page: where the baseline lies between them."""


class Group(StrEnum):
    """Letters of one height."""

    SMALL = "small"
    TALL = "tall"
    CAPITAL = "capital"
    DIGIT = "digit"
    FULL = "full"


USUAL: Mapping[Group, float] = {
    Group.SMALL: 0.70,
    Group.TALL: 1.03,
    Group.CAPITAL: 1.0,
    Group.DIGIT: 0.99,
    Group.FULL: FULL_EM / CAPITAL_EM,
}
"""Heights in units of a capital's, where a page does not show its own; from Times, Helvetica, Palatino and Verdana."""
_RANGE = {Group.SMALL: (0.58, 0.80), Group.TALL: (0.95, 1.15), Group.DIGIT: (0.7, 1.08)}

_GROUPS = (
    dict.fromkeys("acemnorsuvwxzgpqyıæœøç", Group.SMALL)
    | dict.fromkeys("bdfhklß", Group.TALL)
    | dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ&ÆØ", Group.CAPITAL)
    | dict.fromkeys("0123456789", Group.DIGIT)
)
_DEEP = frozenset("gjpqyçQJ,;()[]{}/|@$ßſ§")
_FLOATING = frozenset("'\"“”‘’*°^~-–—=+·•«»<>²³¹ªº´`…_™®©一ー")
_OVERLAP = 0.5
"""Pieces of ink that share so much of the narrower one's width are one letter: a dot and its stem."""


@dataclass(frozen=True, slots=True)
class Stature:
    """The heights that a line shows, in pixels of its picture, each with how many letters show it, and where its
    baseline lies; `baseline` is None where no letter stands on one. `bare` are the places in the text of small letters
    that were read with a sign above them and are no higher than those without."""

    heights: Mapping[Group, tuple[float, int]] = field(default_factory=dict)
    baseline: float | None = None
    bare: frozenset[int] = frozenset()


def stature_of(boxes: NDArray[np.int32], text: str, middles: NDArray[np.float64], height: int) -> Stature:
    """Measure a line whose ink lies in `boxes` (n, 4: left, top, right, bottom) and reads `text`, a letter's middle at
    each of `middles` in a picture of `height`. Spaces have a middle as well."""
    blobs = _joined(boxes)
    letters = [i for i, char in enumerate(text) if not char.isspace()]
    if not len(blobs) or not letters:
        return Stature()
    owned: list[list[int]] = [[] for _ in blobs]
    for i, owner in zip(letters, _owners(blobs, middles[letters], height).tolist(), strict=True):
        if owner >= 0:
            owned[owner].append(i)
    on: list[tuple[float, float]] = []
    shown: dict[Group, list[tuple[float, float]]] = {}
    accented: list[tuple[float, float, list[int]]] = []
    for here, (left, top, right, bottom) in zip(owned, blobs.tolist(), strict=True):
        chars = [text[i] for i in here]
        if not chars or right - left > height * max(1.5, 0.8 * len(chars)):
            continue
        middle = (left + right) / 2
        if all(char not in _DEEP and char not in _FLOATING for char in chars):
            on.append((middle, float(bottom)))
        group = _group(chars)
        if group is not None:
            shown.setdefault(group, []).append((middle, float(top)))
        elif _group([plain(char) for char in chars]) is Group.SMALL:
            accented.append((middle, float(top), here))
    if not on:
        return Stature()
    slope, start = _level(np.array(on))
    heights = {}
    for group, tops in shown.items():
        values = [start + slope * x - y for x, y in tops]
        heights[group] = (median(values), len(values))
    small = BARE * heights.get(Group.SMALL, (0.0, 0))[0]
    bare = frozenset(i for x, y, here in accented if start + slope * x - y < small for i in here)
    heights = {group: value for group, value in heights.items() if value[0] > 2}
    return Stature(heights, start + slope * float(middles.mean()), bare)


def _joined(boxes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Boxes of ink, those above each other joined, from left to right."""
    joined: list[list[int]] = []
    for left, top, right, bottom in boxes[np.argsort(boxes[:, 0])].tolist():
        last = joined[-1] if joined else None
        if last is not None and min(last[2], right) - left > _OVERLAP * min(last[2] - last[0], right - left):
            last[1:] = [min(last[1], top), max(last[2], right), max(last[3], bottom)]
        else:
            joined.append([left, top, right, bottom])
    return np.array(joined, np.int32).reshape(-1, 4)


def _owners(blobs: NDArray[np.int32], middles: NDArray[np.float64], height: int) -> NDArray[np.int64]:
    """For each letter the piece of ink it lies on or next to, or -1."""
    away = np.maximum(blobs[None, :, 0] - middles[:, None], middles[:, None] - blobs[None, :, 2])
    nearest = away.argmin(axis=1)
    return np.where(away.min(axis=1) <= STRAY * height, nearest, -1)


def _group(chars: Sequence[str]) -> Group | None:
    """Whose height the top of ink that is all of these letters has."""
    groups = {Group.FULL if ord(char) > 0x2E7F and char not in _FLOATING else _GROUPS.get(char) for char in chars}
    if len(groups) == 1:
        return groups.pop()
    rest = groups - {Group.SMALL}
    return rest.pop() if len(rest) == 1 else None


def _level(points: NDArray[np.float64]) -> tuple[float, float]:
    """The line most points lie on, as slope and height at 0: a first fit, and a second without what is far from it."""
    x, y = points[:, 0], points[:, 1]
    middle = median(y.tolist())
    if len(points) < 8 or np.ptp(x) == 0:
        return 0.0, middle
    away = np.abs(y - middle)
    near = away <= max(3.0, 2 * median(away.tolist()))
    if near.sum() < 8 or np.ptp(x[near]) == 0:
        return 0.0, middle
    x, y = x[near], y[near]
    away = x - x.mean()
    slope = float(away @ y / (away @ away))  # of least squares
    return slope, median((y - slope * x).tolist())


def sizes_of(statures: Sequence[Stature], scales: Sequence[float]) -> list[float]:
    """The font size of each line in the page's pixels; 0 where a line does not show it. `scales` are the page's pixels
    per pixel of each line's picture."""
    ratios = _ratios(statures)
    capitals = np.zeros(len(statures))
    counts = np.zeros(len(statures))
    errors = np.ones(len(statures))
    for i, (stature, scale) in enumerate(zip(statures, scales, strict=True)):
        if not stature.heights:
            continue
        values = [height / ratios[group] for group, (height, _) in stature.heights.items()]
        weights = [count * ratios[group] for group, (_, count) in stature.heights.items()]
        counts[i] = sum(count for _, count in stature.heights.values())
        capitals[i] = np.average(values, weights=weights) * scale
        errors[i] = np.hypot(BLUR * scale / np.sqrt(counts[i]), PIXEL) / capitals[i]
    return [float(size) / CAPITAL_EM for size in _agreed(capitals, counts, errors)]


def _ratios(statures: Sequence[Stature]) -> Mapping[Group, float]:
    """Heights in units of a capital's as the page has them, from its lines that show both."""
    ratios = dict(USUAL)
    for base, groups in ((Group.CAPITAL, (Group.TALL, Group.SMALL, Group.DIGIT)), (Group.TALL, (Group.SMALL,))):
        for group in groups:
            pairs = [
                (
                    stature.heights[group][0] / stature.heights[base][0],
                    min(stature.heights[group][1], stature.heights[base][1]),
                )
                for stature in statures
                if group in stature.heights and base in stature.heights
            ]
            count = sum(weight for _, weight in pairs)
            if base is Group.CAPITAL or count > 20:
                usual = USUAL[group] / USUAL[base]
                found = _middle([*(value for value, _ in pairs), usual], [*(weight for _, weight in pairs), 5])
                low, high = _RANGE[group]
                ratios[group] = min(max(found * ratios[base], low), high)
    return ratios


def _middle(values: Sequence[float], weights: Sequence[float]) -> float:
    order = np.argsort(values)
    reached = np.cumsum(np.asarray(weights, np.float64)[order])
    return float(np.asarray(values)[order][np.searchsorted(reached, reached[-1] / 2)])


def _agreed(
    sizes: NDArray[np.float64], counts: NDArray[np.float64], errors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sizes with those that differ by no more than their error made one: the size that most letters near have."""
    agreed = sizes.copy()
    for _ in range(2):
        for i in np.flatnonzero(sizes):
            near = np.abs(agreed / agreed[i] - 1) <= max(SAME, min(2 * errors[i], 0.1))
            agreed[i] = _middle(sizes[near & (sizes > 0)].tolist(), counts[near & (sizes > 0)].tolist())
    return agreed
