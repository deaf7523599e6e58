"""Kinds of made documents whose point is a table, as statistics, budgets, surveys and notices have them.

What a table holds is a `Grid` of cells with spans; how it is ruled, how its heads are set, where its notes stand and
what is around it are drawn for each. `benchmarks/adjacency.py` judges what is read of them.
"""

# ruff: noqa: E501
# Markup is not cut into pieces.

from __future__ import annotations

import html
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from benchmarks.pages_maker import Sheet, Words

RULINGS: Final = (
    "grid", "inner", "levels", "under", "books", "open", "open", "head", "columns", "zebra", "framed", "tinted",
)  # fmt: skip
"""All borders; those inside only; level ones; one under each row; three; none; one under the head; between columns and
under the head; every other row tinted; a frame around and uprights between; a tinted head."""


@dataclass(slots=True)
class Place:
    """One cell of a row."""

    text: str
    span: int = 1
    down: int = 1
    indent: int = 0
    bold: bool = False
    right: bool = False
    middle: bool = False
    note: str = ""


@dataclass(slots=True)
class Grid:
    """Rows of cells, the first `head` of them heads."""

    rows: list[list[Place]] = field(default_factory=list)
    head: int = 1
    ruling: str = "grid"
    css: str = ""
    size: float = 1.0
    padding: tuple[float, float] = (0.2, 0.6)
    valign: str = "top"
    first: int = 0

    def put(self, sheet: Sheet) -> None:
        """The table on the page and in the truth."""
        cells = [
            [{"text": p.text + p.note, "rowspan": p.down, "colspan": p.span, "header": i < self.head} for p in row]
            for i, row in enumerate(self.rows)
        ]
        sheet.blocks.append(
            {"type": "table", "text": " ".join(c["text"] for row in cells for c in row), "cells": cells}
        )
        markup = []
        for i, row in enumerate(self.rows):
            markup.append("<tr>")
            for p in row:
                style = f"padding-left:{self.padding[1] + p.indent * 1.2}em;" if p.indent else ""
                style += "font-weight:bold;" if p.bold else ""
                style += "white-space:nowrap;" if p.right and i >= self.head else ""
                style += "text-align:right;" if p.right else "text-align:center;" if p.middle else ""
                note = f"<sup>{html.escape(p.note)}</sup>" if p.note else ""
                tag = "th" if i < self.head else "td"
                markup.append(
                    f'<{tag} colspan="{p.span}" rowspan="{p.down}" style="{style}">{html.escape(p.text)}{note}</{tag}>'
                )
            markup.append("</tr>")
        sheet.notes += f"{self.ruling} {self.valign} {self.padding[0]} "
        name = f"g{len(sheet.blocks)}"
        sheet.style += self._css(f"table.{name}")
        sheet.raw(f'<table class="{name}" style="{self.css}">{"".join(markup)}</table>')

    def _css(self, name: str) -> str:
        line = ".5pt solid #444"
        cells = f"{name} td, {name} th"
        rules = {
            "grid": f"{cells} {{ border:{line} }}",
            "inner": f"{cells} {{ border:{line} }} {name} tr:first-child > * {{ border-top:none }} {name} tr:last-child > * {{ border-bottom:none }} {name} tr > :first-child {{ border-left:none }} {name} tr > :last-child {{ border-right:none }}",
            "levels": f"{cells} {{ border-top:{line}; border-bottom:{line} }}",
            "under": f"{name} td {{ border-bottom:.3pt solid #999 }} {name} th {{ border-bottom:{line} }}",
            "books": f"{name} {{ border-top:1.2pt solid; border-bottom:1.2pt solid }} {name} tr:nth-child({self.head}) > * {{ border-bottom:.6pt solid }}",
            "open": "",
            "head": f"{name} tr:nth-child({self.head}) > * {{ border-bottom:{line} }}",
            "columns": f"{cells} {{ border-left:{line} }} {name} tr > :first-child {{ border-left:none }} {name} tr:nth-child({self.head}) > * {{ border-bottom:{line} }}",
            "zebra": f"{name} tr:nth-child(even) td {{ background:#e8edf3 }}",
            "framed": f"{name} {{ border:{line} }} {cells} {{ border-left:{line} }} {name} th {{ border-bottom:{line} }}",
            "tinted": f"{name} th {{ background:#dde }}",
        }[self.ruling]
        tall, wide = self.padding
        return (
            f" {name} {{ font-size:{self.size}em; border-top:none; border-bottom:none }} {cells} {{ padding:{tall}em {wide}em; border:none;"
            f" vertical-align:{self.valign}; background:none }} {name} th {{ text-align:left; vertical-align:bottom }}"
            f" {name} td:first-child {{ min-width:{self.first}mm }} {rules}"
        )


def drawn(r: random.Random) -> Grid:
    """A grid in a random look."""
    return Grid(
        ruling=r.choice(RULINGS),
        css=r.choice(("width:100%", "width:100%", "", "width:80%")),
        size=r.choice((0.8, 0.85, 0.9, 1.0)),
        padding=(r.choice((0.03, 0.1, 0.2, 0.35)), r.choice((0.4, 0.6, 0.9))),
        valign=r.choice(("top", "top", "middle", "bottom")),
        first=r.choice((0, 35, 50)),
    )


@dataclass(slots=True)
class Figures:
    """Numbers of one style."""

    r: random.Random
    thousands: str
    decimal: str
    blank: str
    sign: str

    @classmethod
    def drawn(cls, r: random.Random) -> Figures:
        return cls(
            r,
            r.choice((",", ".", " ", "")),
            r.choice((".", ",")),
            r.choice(("", "–", ":", "...", "-", "n/a")),
            r.choice(("-", "–", "")),
        )

    def column(self, count: int, gaps: float = 0.0) -> list[str]:
        kind = self.r.choice(("count", "count", "share", "large", "change"))
        return [self.blank if self.r.random() < gaps else self.one(kind) for _ in range(count)]

    def one(self, kind: str) -> str:
        r = self.r
        if kind == "share":
            return f"{r.randint(0, 99)}{self.decimal}{r.randint(0, 9)}"
        if kind == "change":
            return f"{r.choice(('', self.sign))}{r.randint(0, 30)}{self.decimal}{r.randint(0, 9)}"
        number = r.randint(2, 999) if kind == "count" else r.randint(1000, 2_999_999)
        return f"{number:,}".replace(",", self.thousands)


def _labels(w: Words, count: int, words: int) -> list[str]:
    return [w.short(w.rng.randint(1, words)) for _ in range(count)]


def _around(sheet: Sheet, grid: Grid, note: bool = False) -> None:
    """A caption above, prose before and after."""
    r, w = sheet.rng, sheet.words
    if r.random() < 0.7:
        sheet.heading(1, w.title())
        sheet.para(w.text(2, 5))
    sheet.put(
        "caption",
        f"Table {r.randint(1, 30)}{r.choice(('.', ':', ' –'))} {w.sentence()}",
        "div",
        cls="caption",
        free=True,
    )
    grid.put(sheet)
    if note:
        sheet.para(f"{r.choice(('Source:', 'Note:', '1)'))} {w.sentence()}", cls="small flush", free=True)
    for _ in range(r.randint(0, 3)):
        sheet.para(w.text(2, 5))


def _head_over(
    r: random.Random, w: Words, first: str, columns: int, each: int, units: bool, rowspan: bool
) -> list[list[Place]]:
    """Heads over several columns each, and what stands under them."""
    under = [r.choice((str(2019 + i), w.short(1), w.short(2))) for i in range(each)]
    over = [
        Place(first, down=2 if rowspan else 1),
        *(Place(w.short(r.randint(1, 3)), span=each, middle=r.random() < 0.8) for _ in range(columns)),
    ]
    below = [*([] if rowspan else [Place("")]), *(Place(text, right=True) for _ in range(columns) for text in under)]
    rows = [over, below]
    if units:
        rows.append(
            [
                Place(""),
                *(
                    Place(r.choice(("thousand", "%", "million €", "per 1000")), right=True)
                    for _ in range(columns * each)
                ),
            ]
        )
    return rows


def stats(sheet: Sheet) -> None:
    """Heads over columns, groups of rows, indented labels, totals, marks of notes."""
    r, w = sheet.rng, sheet.words
    grid, figures = drawn(r), Figures.drawn(r)
    columns, each = r.choice(((2, 2), (2, 3), (3, 2), (2, 4)))
    count = columns * each
    grid.rows = _head_over(
        r, w, r.choice(("", "Region", "Industry", "Item")), columns, each, r.random() < 0.3, r.random() < 0.5
    )
    grid.head = len(grid.rows)
    bold_group, indent = r.random() < 0.6, r.randint(0, 1)
    whole = grid.ruling in ("grid", "inner") and r.random() < 0.5  # where it is seen
    grid.size = min(grid.size, 0.8 if count > 6 else 1.0)
    for _ in range(r.randint(2, 4)):
        lines = r.randint(2, 6)
        label = Place(w.short(2), bold=bold_group)
        grid.rows.append(
            [label, *(Place("") for _ in range(count))]
            if not whole
            else [Place(label.text, span=count + 1, bold=bold_group)]
        )
        made = [figures.column(lines, 0.05) for _ in range(count)]
        grid.rows += [
            [
                Place(label, indent=indent),
                *(Place(made[c][i], right=True, note=r.choice(("",) * 14 + ("1", "a"))) for c in range(count)),
            ]
            for i, label in enumerate(_labels(w, lines, 4))
        ]
    grid.rows.append(
        [Place("Total", bold=True), *(Place(figures.one("large"), right=True, bold=True) for _ in range(count))]
    )
    _around(sheet, grid, note=True)


def series(sheet: Sheet) -> None:
    """Years across, one line a row, plain."""
    r, w = sheet.rng, sheet.words
    grid, figures = drawn(r), Figures.drawn(r)
    count, lines = r.randint(3, 9), r.randint(6, 22)
    start = r.randint(1995, 2022)
    grid.rows = [
        [Place(r.choice(("", "Country", "Year of report"))), *(Place(str(start + i), right=True) for i in range(count))]
    ]
    kinds = [r.choice(("count", "share", "large")) for _ in range(lines)]
    grid.rows += [
        [Place(label), *(Place(figures.one(kinds[i]), right=True) for _ in range(count))]
        for i, label in enumerate(_labels(w, lines, 3))
    ]
    _around(sheet, grid, note=r.random() < 0.5)


def long_heads(sheet: Sheet) -> None:
    """Heads of several lines over narrow columns of figures."""
    r, w = sheet.rng, sheet.words
    grid, figures = drawn(r), Figures.drawn(r)
    grid.css = "width:100%"
    count, lines = r.randint(3, 6), r.randint(4, 14)
    middle = r.random() < 0.5
    grid.rows = [
        [
            Place(r.choice(("", "Area", "Kind of work"))),
            *(Place(w.short(r.randint(2, 6)), right=not middle, middle=middle) for _ in range(count)),
        ]
    ]
    made = [figures.column(lines, 0.1) for _ in range(count)]
    grid.rows += [
        [Place(label), *(Place(made[c][i], right=not middle, middle=middle) for c in range(count))]
        for i, label in enumerate(_labels(w, lines, 3))
    ]
    _around(sheet, grid)


def long_labels(sheet: Sheet) -> None:
    """Labels of several lines beside figures."""
    r, w = sheet.rng, sheet.words
    grid, figures = drawn(r), Figures.drawn(r)
    grid.css = "width:100%"
    count, lines = r.randint(2, 6), r.randint(5, 12)
    grid.rows = [[Place("Indicator"), *(Place(str(2018 + i), right=True) for i in range(count))]]
    made = [figures.column(lines) for _ in range(count)]
    grid.rows += [
        [Place(w.short(r.choice((2, 3, 9, 14)))), *(Place(made[c][i], right=True) for c in range(count))]
        for i in range(lines)
    ]
    _around(sheet, grid)


def sparse(sheet: Sheet) -> None:
    """Many empty cells, marks in the others."""
    r, w = sheet.rng, sheet.words
    grid, figures = drawn(r), Figures.drawn(r)
    count, lines = r.randint(3, 7), r.randint(6, 14)
    grid.rows = [[Place("Name"), *(Place(w.short(1), middle=True) for _ in range(count))]]
    ticks = r.random() < 0.4
    for label in _labels(w, lines, 3):
        cells = [("x" if ticks else figures.one("count")) if r.random() < 0.5 else "" for _ in range(count)]
        grid.rows.append([Place(label), *(Place(text, middle=True) for text in cells)])
    _around(sheet, grid)


def worded(sheet: Sheet) -> None:
    """Cells of text that wrap, in narrow columns."""
    r, w = sheet.rng, sheet.words
    grid = drawn(r)
    grid.css, grid.valign = "width:100%", "top"
    count, lines = r.randint(2, 4), r.randint(3, 7)
    grid.rows = [[Place(w.short(r.randint(1, 2)), bold=True) for _ in range(count + 1)]]
    for i in range(lines):
        first = r.choice((w.short(2), f"{i + 1}", f"{i + 1}. {w.short(1)}"))
        grid.rows.append(
            [
                Place(first),
                *(Place(w.sentence() if r.random() < 0.6 else w.short(r.randint(1, 4))) for _ in range(count)),
            ]
        )
    _around(sheet, grid)


def mixed(sheet: Sheet) -> None:
    """A wrapped text and figures beside it in one row: projects, offers, measures."""
    r, w = sheet.rng, sheet.words
    grid, figures = drawn(r), Figures.drawn(r)
    grid.css, grid.valign = "width:100%", "top"
    lines = r.randint(3, 9)
    grid.rows = [[Place("No."), Place("Measure"), Place("Date"), Place("Amount", right=True)]]
    for i in range(lines):
        grid.rows.append(
            [
                Place(f"{i + 1}"),
                Place(w.sentence() if r.random() < 0.7 else w.short(3)),
                Place(f"{r.randint(10, 28)}.{r.randint(10, 12)}.2031"),
                Place(figures.one("large"), right=True),
            ]
        )
    _around(sheet, grid)


def small(sheet: Sheet) -> None:
    """Two or three rows between prose."""
    r, w = sheet.rng, sheet.words
    sheet.heading(1, w.title())
    for _ in range(r.randint(2, 3)):
        sheet.para(w.text(2, 4))
        grid, figures = drawn(r), Figures.drawn(r)
        count, lines = r.randint(2, 5), r.randint(1, 3)
        grid.rows = [[Place(w.short(1)), *(Place(w.short(1), right=True) for _ in range(count))]]
        grid.rows += [
            [Place(label), *(Place(figures.one("count"), right=True) for _ in range(count))]
            for label in _labels(w, lines, 2)
        ]
        grid.put(sheet)
        sheet.para(w.text(2, 4))


def pairs(sheet: Sheet) -> None:
    """Names of things and what they are, two columns or four."""
    r, w = sheet.rng, sheet.words
    grid, figures = drawn(r), Figures.drawn(r)
    grid.head = 0
    grid.ruling = r.choice(("grid", "inner", "levels", "under", "zebra", "books"))
    bold = r.random() < 0.5
    for label in _labels(w, r.randint(4, 10), 2):
        value = r.choice((w.short(2), figures.one("large"), w.date(), w.short(6)))
        grid.rows.append([Place(label, bold=bold), Place(value)])
    _around(sheet, grid)


def abreast(sheet: Sheet) -> None:
    """Two tables side by side."""
    r, w = sheet.rng, sheet.words
    sheet.heading(1, w.title())
    sheet.para(w.text(2, 4))
    ruling, size = r.choice(RULINGS), r.choice((0.8, 0.9))
    same = r.random() < 0.4
    lines, count = r.randint(4, 10), r.randint(1, 3)
    sheet.raw('<div style="display:flex;align-items:flex-start">')
    figures = Figures.drawn(r)
    for i in (1, 2):
        sheet.raw('<div style="width:47%;margin-right:3%">')
        if not same or r.random() < 0.5:
            sheet.put("caption", f"Table {i}. {w.short(3)}", "div", cls="caption", free=True)
        grid = Grid(ruling=ruling, size=size, css="width:100%")
        rows = lines if same else r.randint(4, 10)
        grid.rows = [[Place(w.short(1)), *(Place(w.short(1), right=True) for _ in range(count))]]
        grid.rows += [
            [Place(label), *(Place(figures.one("count"), right=True) for _ in range(count))]
            for label in _labels(w, rows, 2)
        ]
        grid.put(sheet)
        sheet.raw("</div>")
    sheet.raw("</div>")
    sheet.para(w.text(2, 5))
    sheet.para(w.text(2, 5))


def whole_page(sheet: Sheet) -> None:
    """A table that fills the page."""
    r, w = sheet.rng, sheet.words
    sheet.running(w.title(), "#")
    if r.random() < 0.4:
        sheet.paper = "A4 landscape"
    grid, figures = drawn(r), Figures.drawn(r)
    grid.css, grid.size, grid.padding = "width:100%", 8 / sheet.look.size, (r.choice((0.03, 0.1)), 0.4)
    count, lines = r.randint(5, 8), r.randint(22, 30) if "landscape" in sheet.paper else r.randint(30, 42)
    grid.rows = [[Place("Authority"), *(Place(w.short(r.randint(1, 2)), right=True) for _ in range(count))]]
    kinds = [r.choice(("count", "share", "large", "change")) for _ in range(count)]
    for label in _labels(w, lines, 3):
        grid.rows.append(
            [
                Place(label),
                *(Place(figures.one(kind) if r.random() < 0.95 else figures.blank, right=True) for kind in kinds),
            ]
        )
    sheet.put("caption", f"Table {r.randint(1, 30)}. {w.sentence()}", "div", cls="caption", free=True)
    grid.put(sheet)


def over_columns(sheet: Sheet) -> None:
    """A table over two columns of prose, or in one of them."""
    r, w = sheet.rng, sheet.words
    sheet.title(w.title())
    inside = r.random() < 0.5
    for part in range(2):
        sheet.raw('<div class="columns" style="column-count:2">')
        for i in range(r.randint(2, 4)):
            sheet.para(w.text(3, 6))
            if inside and i == 1 and not part:
                grid, figures = drawn(r), Figures.drawn(r)
                grid.css, grid.size = "width:100%", 0.8
                grid.rows = [[Place(w.short(1)), *(Place(w.short(1), right=True) for _ in range(2))]]
                grid.rows += [
                    [Place(label), *(Place(figures.one("count"), right=True) for _ in range(2))]
                    for label in _labels(w, r.randint(3, 7), 2)
                ]
                grid.put(sheet)
        sheet.raw("</div>")
        if not inside and not part:
            grid, figures = drawn(r), Figures.drawn(r)
            grid.css = "width:100%"
            count = r.randint(4, 7)
            grid.rows = [[Place("Group"), *(Place(w.short(1), right=True) for _ in range(count))]]
            grid.rows += [
                [Place(label), *(Place(figures.one("share"), right=True) for _ in range(count))]
                for label in _labels(w, r.randint(4, 8), 2)
            ]
            sheet.put("caption", f"Table 1. {w.sentence()}", "div", cls="caption", free=True)
            grid.put(sheet)


def charts(sheet: Sheet) -> None:
    """Charts with labels, which are no tables."""
    r, w = sheet.rng, sheet.words
    sheet.heading(1, w.title())
    for _ in range(2):
        sheet.para(w.text(2, 4))
        bars = r.randint(4, 8)
        marks = []
        for i in range(bars):
            high = r.randint(10, 80)
            marks.append(f'<rect x="{30 + i * 30}" y="{100 - high}" width="18" height="{high}" fill="#468"/>')
            marks.append(f'<text x="{39 + i * 30}" y="110" font-size="7" text-anchor="middle">{2010 + i}</text>')
            if r.random() < 0.7:
                marks.append(
                    f'<text x="{39 + i * 30}" y="{97 - high}" font-size="7" text-anchor="middle">{high}</text>'
                )
        for y in range(0, 100, 20):
            marks.append(
                f'<line x1="25" x2="{35 + bars * 30}" y1="{100 - y}" y2="{100 - y}" stroke="#aaa" stroke-width=".4"/>'
            )
            marks.append(f'<text x="20" y="{102 - y}" font-size="7" text-anchor="end">{y}</text>')
        sheet.raw(f'<svg viewBox="0 0 {60 + bars * 30} 118" style="width:70%;height:16em">{"".join(marks)}</svg>')
        sheet.put("caption", f"Figure {r.randint(1, 9)}. {w.sentence()}", "div", cls="caption", free=True)
    sheet.para(w.text(2, 4))


TABLES: Final[tuple[Callable[[Sheet], None], ...]] = (
    stats, series, long_heads, long_labels, sparse, worded, mixed, small, pairs, abreast, whole_page, over_columns, charts,
)  # fmt: skip
