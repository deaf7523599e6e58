"""How well pages are read: documents with known truth through the way of `warmwire ocr`, scored, as a page of docs.

    python benchmarks/quality.py [--corpus DIR] [--sets scans,hard] [--cache DIR [--sensitivity]] [--output FILE]

The corpus (default ../shared, see `corpus`) holds sets of documents with their truth and the scorers. Without it, the
few small documents of this project are read and scored instead (see `small`), and no page is written. Documents go the
way of the command, its private host included, one page at a time; `--cache` keeps what the models saw, for when only
what comes after them has changed (no seconds are printed then).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import small
from benchmarks.corpus import ROOT, SETS, SHARED, Set
from benchmarks.sensitivity import measure
from warmwire.client import Engine, Local
from warmwire.documents.input.open import open_source
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.reader import DocumentReader
from warmwire.documents.reading.record import Route
from warmwire.engines import PageEngines
from warmwire.layout.page import Kind

PARTS: Final = (
    "strict", "overall", "cer", "order", "headings", "levels", "lists_f1", "nesting", "tables", "false", "paragraphs",
    "furniture",
)  # fmt: skip
RUNNING: Final = (Kind.PAGE_HEADER, Kind.PAGE_FOOTER)
WORST: Final = 5
"""So many of the lowest documents of each set are named with what they lose."""


@dataclass(slots=True)
class Result:
    """One set's outcome: what the scorer says, and pages and seconds that models took."""

    report: dict[str, Any]
    kept: float | None = None
    """Of sets of facts, the share of words read where running heads and feet count as read."""
    pages: int = 0
    seconds: float = 0.0
    troubles: list[str] = field(default_factory=list)


@contextlib.contextmanager
def page_reader(cache: Path | None) -> Iterator[DocumentReader]:
    """A reader as the command has it, or one whose recognition is kept in `cache`."""
    if cache is None:
        engines = PageEngines(None, "pages", 1)
        reader = DocumentReader(engines.connect, jobs=engines.jobs)
        with contextlib.closing(engines), contextlib.closing(reader):
            yield reader
        return
    from benchmarks.sights import SightReader

    sights = SightReader(cache)
    connect: Callable[[], Engine] = lambda: Local(sights)  # noqa: E731
    with contextlib.closing(DocumentReader(connect)) as reader:
        yield reader


def read_set(part: Set, corpus: Path, results: Path, reader: DocumentReader) -> Result:
    """Read every document of a set into Markdown in `results` and score it."""
    result = Result({})
    whole = results / "whole"
    whole.mkdir()
    for name, file in part.documents(corpus):
        source = open_source(str(file))
        with contextlib.closing(source):
            reading = reader.read(source, range(1, len(source) + 1))
        text = export(reading, Format.MD)
        (results / part.output(name)).write_text(text, "utf-8")
        running = [element.text for page in reading.pages for element in page.elements if element.kind in RUNNING]
        (whole / part.output(name)).write_text("\n\n".join([text, *running]), "utf-8")
        seconds = [page.record.seconds for page in reading.pages if page.record.route is not Route.FILE]
        result.pages += len(seconds)
        result.seconds += sum(seconds)
        result.troubles += [f"{name}, page {record.page}: {record.error}" for record in reading.troubled]
        print(f"{part.name:14} {name:24} {sum(seconds):6.1f} s for {len(seconds)} pages", file=sys.stderr)
    result.report = part.score(corpus, results)
    if part.facts:
        result.kept = part.score(corpus, whole)["words"]
    return result


def page_of(results: dict[Set, Result], timed: bool, sensitivity: str) -> str:
    """The whole page of docs."""
    lines = [
        "# How well pages are read",
        "",
        "Written by `make quality` (`benchmarks/quality.py`). Rules and constants were set while looking at the",
        "tuning sets. Of the judging set the figures were seen, of single documents as well, and its pages were not",
        "looked at for the layout. `strict` and `overall` weigh the parts beside them (see the scorer): `cer` is the",
        "share of wrong letters, all else of what is right. The replicas are real page geometry with invented words,",
        "judged by facts noted of each, digital and scanned.",
        "",
        *_summary(results, timed),
    ]
    for part, result in results.items():
        lines += ["", *(_facts_of(part, result) if part.facts else _scores_of(part, result))]
    return "\n".join(lines) + "\n" + sensitivity


def _summary(results: dict[Set, Result], timed: bool) -> list[str]:
    lines = ["| set | use | documents | strict or facts | overall or words |" + (" s / page |" if timed else ""),
             "|---|---|---:|---:|---:|" + ("---:|" if timed else "")]  # fmt: skip
    for part, result in results.items():
        report, use = result.report, "judging" if part.judged else "tuning"
        if part.facts:
            cells = (len(report["pages"]), report["facts"][2], report["words"])
        else:
            cells = (len(report["files"]), report["total"]["strict"], report["total"]["overall"])
        seconds = f" {result.seconds / result.pages:.1f} |" if timed and result.pages else " – |" if timed else ""
        lines.append(f"| {part.name} | {use} | {cells[0]} | {cells[1]:.4f} | {cells[2]:.4f} |{seconds}")
    if timed:
        lines += ["", f"Seconds are for a page that a model reads, one worker, {os.cpu_count()} processors "
                      f"({platform.machine()})."]  # fmt: skip
    return lines


def _scores_of(part: Set, result: Result) -> list[str]:
    files, total = result.report["files"], result.report["total"]
    lowest = sorted(files, key=lambda name: files[name]["strict"])[:WORST]
    return [
        f"## {part.name}",
        "",
        f"Text that must not appear: {total['leaks']}, documents missing: {total['missing']}.",
        "",
        "| document | " + " | ".join(PARTS) + " |",
        "|---|" + "---:|" * len(PARTS),
        *(f"| {name} {_cells(files[name])}" for name in sorted(files)),
        f"| **all {len(files)}** {_cells(total)}",
        "",
        *(f"- {name}: {_losses(files[name])}" for name in lowest if files[name]["strict"] < 1),
        *(f"- not read whole: {trouble}" for trouble in result.troubles),
    ]


def _losses(scores: dict[str, Any]) -> str:
    """The parts in which a document loses most, in words."""
    lost = {
        part: scores["cer"] if part == "cer" else 1 - scores[part] for part in PARTS[2:] if scores[part] is not None
    }
    worst = sorted(lost.items(), key=lambda item: -item[1])[:3]
    return f"{scores['strict']:.3f}; " + ", ".join(f"{part} loses {share:.3f}" for part, share in worst if share > 0)


def _facts_of(part: Set, result: Result) -> list[str]:
    report = result.report
    pages = report["pages"]
    worst = sorted(pages, key=lambda name: -len(pages[name]["failed"]))[:WORST]
    return [
        f"## {part.name}",
        "",
        "| kind | held | of | share |",
        "|---|---:|---:|---:|",
        *(f"| {kind} | {held} | {count} | {share:.3f} |" for kind, (held, count, share) in report["kinds"].items()),
        f"| **all** | {report['facts'][0]} | {report['facts'][1]} | {report['facts'][2]:.4f} |",
        "",
        f"Words of the page in the Markdown: {report['words']:.4f}; with the running heads, feet and margin lines that",
        f"were told as such and left out, which the truth names in part only: {result.kept:.4f}.",
        "",
        *(f"- {name}: {_failures(pages[name])}" for name in worst if pages[name]["failed"]),
        *(f"- not read whole: {trouble}" for trouble in result.troubles),
    ]


def _failures(page: dict[str, Any]) -> str:
    kinds = [kind for kind, _ in page["failed"]]
    counts = sorted({kind: kinds.count(kind) for kind in kinds}.items(), key=lambda item: -item[1])
    return f"words {page['words']:.3f}; fails " + ", ".join(f"{count} {kind}" for kind, count in counts)


def _cells(scores: dict[str, Any]) -> str:
    return "".join("| – " if scores[part] is None else f"| {scores[part]:.4f} " for part in PARTS) + "|"


def main() -> int:
    parser = argparse.ArgumentParser(description="Score the reading of documents with known truth.")
    parser.add_argument("--corpus", type=Path, default=SHARED)
    parser.add_argument("--sets", default=",".join(part.name for part in SETS))
    parser.add_argument("--cache", type=Path, help="keep what the models saw in this folder")
    parser.add_argument("--sensitivity", action="store_true", help="move every constant as well; needs --cache")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "quality.md")
    arguments = parser.parse_args()
    wanted = [part for part in SETS if part.name in arguments.sets.split(",")]
    if arguments.corpus == SHARED and not SHARED.is_dir():
        print(*small.table(small.measure()), sep="\n")
        return 0
    if arguments.sensitivity and arguments.cache is None:
        parser.error("--sensitivity needs --cache")
    for part in wanted:
        if not (arguments.corpus / part.folder).is_dir():
            parser.error(f"{arguments.corpus / part.folder} does not exist")
    results: dict[Set, Result] = {}
    with tempfile.TemporaryDirectory() as folder, page_reader(arguments.cache) as reader:
        for part in wanted:
            output = Path(folder) / part.name
            output.mkdir()
            results[part] = read_set(part, arguments.corpus, output, reader)
    sensitivity = measure(wanted, arguments.corpus, arguments.cache) if arguments.sensitivity else ""
    arguments.output.write_text(page_of(results, arguments.cache is None, sensitivity), "utf-8")
    print(f"written to {arguments.output}", file=sys.stderr)
    return 1 if any(result.troubles for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
