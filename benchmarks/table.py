"""Rows as one table, for the terminal and as Markdown alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

import msgspec

from benchmarks.rows import Note, Row, Spread

HEAD: Final = ("", "ours", "", "beside", "theirs", "ratio", "spread", "wanted", "")
RIGHT: Final = (1, 4, 5, 6, 7)


def table(rows: Sequence[Row], notes: Sequence[Note] = ()) -> str:
    """All rows by group, then what is not there and why."""
    lines: list[tuple[str, ...]] = []
    for name, group in groupby(rows, lambda row: row.group):
        lines.append((f"**{name}**", *[""] * (len(HEAD) - 1)))
        lines.extend(map(_cells, group))
    return "\n".join([*_aligned(lines), *([""] if notes else []), *(f"- {note.group}: {note.text}" for note in notes)])


def show(given: Iterable[Row | Note], as_json: bool) -> None:
    """Print what a single benchmark gives."""
    rows = list(given)
    if as_json:
        print(msgspec.json.encode(rows).decode())
    else:
        print(table([row for row in rows if isinstance(row, Row)], [row for row in rows if isinstance(row, Note)]))


def line(given: Row | Note) -> str:
    """One row, for who waits for the table."""
    return given.text if isinstance(given, Note) else "  ".join(filter(None, _cells(given)))


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        figure(row.ours.middle),
        row.unit,
        row.beside,
        "" if row.theirs is None else figure(row.theirs),
        "" if row.ratio is None else figure(row.ratio.middle),
        spread(row.judged) if row.judged.low < row.judged.high else "",
        wanted(row),
        {None: "", True: "yes", False: "**no**"}[row.met],
    )


def wanted(row: Row) -> str:
    """The bound, and whether it is one of the ratio."""
    if row.wanted is None:
        return ""
    sign = "≥" if row.more else "≤"
    return f"{sign} {row.wanted:g}{' ×' if row.wanted_of == 'ratio' else ''}"


def figure(value: float) -> str:
    """Three figures that count, thousands apart."""
    size = abs(value)
    if size >= 100 or size == 0:
        return f"{value:,.0f}"
    if size >= 0.001:
        return f"{value:.2f}" if size >= 10 else f"{value:#.3g}"
    return f"{value:.1e}"


def spread(value: Spread) -> str:
    """From quartile to quartile."""
    return f"{figure(value.low)} – {figure(value.high)}"


def _aligned(lines: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(HEAD, *lines, strict=True)]

    def one(cells: Sequence[str]) -> str:
        placed = (
            cell.rjust(width) if i in RIGHT else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(placed)} |"

    yield one(HEAD)
    yield "|" + "|".join("-" * (w + 1) + ":" if i in RIGHT else "-" * (w + 2) for i, w in enumerate(widths)) + "|"
    yield from map(one, lines)
