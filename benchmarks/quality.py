"""How well pages are read: documents with known text through `warmwire ocr`, scored, as a table.

    python benchmarks/quality.py [DIR] [--scorer SCORE.PY] [--output docs/quality.md]

DIR (default ../shared/scans) holds NAME.truth.json beside NAME.pdf, .png, .jpg or .tif. The documents go the way of the
command, its private host included, one page at a time; the scorer (default ../shared/tools/score.py) judges the
Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmwire.documents.export import export
from warmwire.documents.formats import Format
from warmwire.documents.read import Reader
from warmwire.documents.record import Route
from warmwire.documents.source import open_source
from warmwire.engines import Engines

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("cer", "order", "headings", "lists", "tables", "overall")


@dataclass(frozen=True, slots=True)
class Timing:
    """Pages of one document that a model read, and how long they took together, seconds."""

    pages: int
    seconds: float


def read_all(directory: Path, results: Path) -> dict[str, Timing]:
    """Read every document of `directory` into Markdown in `results`; the timing of each by its name."""
    engines = Engines(None, "pages", 1)
    reader = Reader(engines.connect, jobs=engines.jobs)
    timings = {}
    try:
        for truth in sorted(directory.glob("*.truth.json")):
            name = truth.name.removesuffix(".truth.json")
            file = directory / json.loads(truth.read_text("utf-8"))["file"]
            source = open_source(str(file))
            try:
                reading = reader.read(source, range(1, len(source) + 1))
            finally:
                source.close()
            (results / f"{name}.md").write_text(export(reading, Format.MD), "utf-8")
            seconds = [page.record.seconds for page in reading.pages if page.record.route is not Route.FILE]
            timings[name] = Timing(len(seconds), sum(seconds))
            print(f"{name:20} {sum(seconds):6.1f} s for {len(seconds)} pages", file=sys.stderr)
    finally:
        reader.close()
        engines.close()
    return timings


def score(scorer: Path, directory: Path, results: Path) -> dict[str, Any]:
    """What the scorer says: `files` by name and `total`, each with the parts (None where the truth has none)."""
    command = [sys.executable, str(scorer), str(directory), str(results), "--json"]
    report: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return report


def page_of(report: dict[str, Any], timings: dict[str, Timing]) -> str:
    """The report as Markdown."""
    files, total = report["files"], report["total"]
    pages = sum(timing.pages for timing in timings.values())
    seconds = sum(timing.seconds for timing in timings.values()) / max(pages, 1)
    lowest = min(files, key=lambda name: files[name]["overall"])
    rows = [f"| {name} {_cells(files[name])} {_seconds(timings[name])} |" for name in sorted(files)]
    return "\n".join(
        [
            "# How well pages are read",
            "",
            "Written by `make quality` (`benchmarks/quality.py`), which reads made documents with known text as",
            "`warmwire ocr` does. `cer` is the share of wrong letters; `order`, `headings`, `lists` and `tables` are",
            "shares of what is right; `overall` weighs them 0.45, 0.2, 0.1, 0.1 and 0.15, without what a document",
            "lacks. Seconds are for a page that a model reads, on one worker.",
            "",
            f"Mean overall **{total['overall']:.4f}**, lowest {files[lowest]['overall']:.4f} ({lowest}), "
            f"text that must not appear: {total['leaks']}, documents missing: {total['missing']}. "
            f"**{seconds:.1f} s** a page on {os.cpu_count()} processors ({platform.machine()}).",
            "",
            "| document | " + " | ".join(PARTS) + " | s / page |",
            "|---|" + "---:|" * (len(PARTS) + 1),
            *rows,
            f"| **all {len(files)}** {_cells(total)} {seconds:.1f} |",
            "",
        ]
    )


def _cells(scores: dict[str, Any]) -> str:
    return "".join("| – " if scores[part] is None else f"| {scores[part]:.4f} " for part in PARTS) + "|"


def _seconds(timing: Timing) -> str:
    return f"{timing.seconds / timing.pages:.1f}" if timing.pages else "–"


def main() -> int:
    parser = argparse.ArgumentParser(description="Score the reading of documents with known text.")
    parser.add_argument("directory", nargs="?", type=Path, default=ROOT.parent / "shared" / "scans")
    parser.add_argument("--scorer", type=Path, default=ROOT.parent / "shared" / "tools" / "score.py")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "quality.md")
    arguments = parser.parse_args()
    for path in (arguments.directory, arguments.scorer):
        if not path.exists():
            parser.error(f"{path} does not exist")
    with tempfile.TemporaryDirectory() as results:
        timings = read_all(arguments.directory, Path(results))
        report = score(arguments.scorer, arguments.directory, Path(results))
    if not report["files"]:
        parser.error(f"{arguments.directory} holds no NAME.truth.json")
    arguments.output.write_text(page_of(report, timings), "utf-8")
    print(f"mean overall {report['total']['overall']:.4f}; written to {arguments.output}", file=sys.stderr)
    return 0 if not report["total"]["missing"] and not report["total"]["leaks"] else 1


if __name__ == "__main__":
    sys.exit(main())
