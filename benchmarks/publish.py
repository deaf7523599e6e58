"""Results as a page of docs: the table between its marks in docs/performance.md, and plots beside it.

One plot has the ratio of every row that has one, with its spread, the other how cost grows with size. Drawn twice, a
result gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.results import ROOT, Result
from benchmarks.rows import Row
from benchmarks.table import figure, table
from warmwire.system.files import write_file

PAGE: Final = ROOT / "docs" / "performance.md"
PLOTS: Final = ROOT / "docs" / "plots"
START: Final = "<!-- bench: made by make bench -->"
END: Final = "<!-- end of bench -->"
COLOURS: Final = {True: "#1a7f37", False: "#cf222e", None: "#57606a"}
"""By whether a row is as wanted."""
PLAIN: Final = COLOURS[None]


def publish(result: Result, page: Path = PAGE, plots: Path = PLOTS) -> None:
    """Put a result into its page, what is written around the marks stays, and draw its plots."""
    drawn = {"ratios.svg": ratios(result.rows), "growth.svg": growths(result.rows)}
    pictures = []
    for name, svg in drawn.items():
        if svg is not None:
            write_file(plots / name, svg)
            pictures += ["", f"![{name.removesuffix('.svg').capitalize()}]({plots.name}/{name})"]
    lines = [START, "", str(result.machine), "", table(result.rows, result.notes), *pictures, "", END]
    text = page.read_text("utf-8")
    made, count = re.subn(f"{re.escape(START)}.*{re.escape(END)}", lambda _: "\n".join(lines), text, flags=re.DOTALL)
    if not count:
        raise SystemExit(f"{page}: no place for the table; it stands between {START} and {END}")
    write_file(page, made.encode())


def ratios(rows: Sequence[Row]) -> bytes | None:
    """Each ratio as a point on a line from quartile to quartile, right of 1 where ours is better; None without any."""
    shown = [(row, row.ratio) for row in rows if row.ratio is not None]
    if not shown:
        return None
    figure_, axes = _figure(8, 0.9 + 0.24 * len(shown))
    group = ""
    for y, (row, ratio) in enumerate(shown):
        low, middle, high = (value if row.more else 1 / value for value in (ratio.low, ratio.middle, ratio.high))
        colour = COLOURS[row.met]
        axes.plot([low, high], [y, y], color=colour, linewidth=3, alpha=0.4, solid_capstyle="butt")
        axes.plot([middle], [y], "o", color=colour, markersize=4.5)
        if row.group != group:
            group = row.group
            axes.axhline(y - 0.5, color=PLAIN, linewidth=0.4)
            axes.text(0.99, y - 0.35, group, transform=axes.get_yaxis_transform(), ha="right", va="top", weight="bold")
    axes.set_yticks(range(len(shown)), [f"{row.name} / {row.beside}" for row, _ in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.axvline(1, color=PLAIN, linewidth=0.8)
    axes.set_xlabel("times as good as what it stands beside (right of 1: better)")
    axes.grid(axis="x", alpha=0.3)
    return _svg(figure_)


def growths(rows: Sequence[Row]) -> bytes | None:
    """A panel for each growth, both axes by powers of ten; None without any."""
    shown = [row for row in rows if row.points]
    if not shown:
        return None
    figure_, axes = _figure(3.2 * len(shown), 2.9, len(shown))
    for row, panel in zip(shown, axes if len(shown) > 1 else [axes], strict=True):
        xs, ys = zip(*row.points, strict=True)
        panel.loglog(xs, ys, "o-", color=PLAIN, markersize=4.5, linewidth=1.2)
        for x, y in row.points:
            panel.annotate(figure(y), (x, y), xytext=(0, 6), textcoords="offset points", fontsize=8, ha="center")
        panel.set_title(f"{row.name}, exponent {row.ours.middle:.2f}", fontsize=9)
        panel.set_xlabel(row.axes[0])
        panel.set_ylabel(row.axes[1])
        panel.set_xticks(xs, [f"{x:g}" for x in xs])
        panel.set_ylim(min(ys) / 4, max(ys) * 4)  # what is flat is to look flat
        panel.minorticks_off()
        panel.margins(x=0.15)
        panel.grid(alpha=0.3)
    return _svg(figure_)


def _figure(width: float, height: float, panels: int = 1) -> Any:
    from matplotlib import pyplot

    pyplot.switch_backend("svg")
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "", "font.family": "sans-serif", "font.size": 9})
    return pyplot.subplots(1, panels, figsize=(width, height), layout="constrained")


def _svg(figure_: Any) -> bytes:
    from io import BytesIO

    from matplotlib import pyplot

    file = BytesIO()
    figure_.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure_)
    return file.getvalue()
