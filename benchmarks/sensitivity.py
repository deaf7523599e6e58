"""How much hangs on each number of the layout: every constant moved by a tenth up and down, all sets scored again.

    python benchmarks/sensitivity.py --cache DIR [--sets scans,hard] [--only NAME] [--sample N] [--output FILE]

A rule whose figure hangs on one value of a constant is fitted to the documents it was set on. Constants are the named
decimal numbers at the top of the modules under `warmwire.layout` and of those in `documents` that look at a whole
document. What the models saw comes from `--cache` (see `sights`; `quality.py --cache` fills it) and what the files say
is read once, so that a constant costs seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import json
import multiprocessing
import pkgutil
import random
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.corpus import SETS, SHARED, Set
from benchmarks.sights import SightReader, load_sight
from warmwire.client import Local
from warmwire.documents.input.open import open_source
from warmwire.documents.input.source import Page, PageText, Source
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.drawing import drawing_dpi
from warmwire.documents.reading.reader import DocumentReader
from warmwire.media.images import Image
from warmwire.models.pages.reader import Sight

STEPS: Final = (0.9, 1.1)
ROOMS: Final = ("warmwire.layout",)
MODULES: Final = ("across", "levels", "running")
"""Modules of `documents.reading` that decide about structure."""
SEED: Final = 1
"""Of the choice of a sample."""
LIMIT: Final = 0.005
"""Most that a tenth of one constant may cost a set."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A named number and the modules that have it."""

    name: str
    value: float
    modules: tuple[str, ...]

    @contextlib.contextmanager
    def moved(self, factor: float) -> Iterator[None]:
        """The constant times `factor` in every module, for a while."""
        modules = [importlib.import_module(name) for name in self.modules]
        for module in modules:
            setattr(module, self.name.rsplit(".", 1)[1], self.value * factor)
        try:
            yield
        finally:
            for module in modules:
                setattr(module, self.name.rsplit(".", 1)[1], self.value)


def constants() -> list[Constant]:
    """Every decimal constant of the layout, each once: where it is defined, and where it is imported to."""
    names = [f"warmwire.documents.reading.{name}" for name in MODULES]
    for room in ROOMS:
        names += [info.name for info in pkgutil.walk_packages(importlib.import_module(room).__path__, f"{room}.")]
    modules = [importlib.import_module(name) for name in names if importlib.util.find_spec(name) is not None]
    found: dict[tuple[str, int], list[str]] = {}
    for module in modules:
        for name, value in vars(module).items():
            if isinstance(value, float) and name.strip("_").isupper():
                found.setdefault((name, id(value)), []).append(module.__name__)
    return [
        Constant(f"{_owner(places, name)}.{name}", getattr(importlib.import_module(places[0]), name), tuple(places))
        for (name, _), places in sorted(found.items())
    ]


def _owner(modules: list[str], name: str) -> str:
    """The module that defines a constant rather than imports it."""
    for module in modules:
        source = Path(importlib.import_module(module).__file__ or "").read_text("utf-8")
        if any(line.startswith((f"{name} ", f"{name}:")) for line in source.splitlines()):
            return module.removeprefix("warmwire.")
    return modules[0].removeprefix("warmwire.")


class _MemoryPage:
    """A page whose text was read before; its picture is a blank one that carries the number of its sight."""

    def __init__(self, page: Page, reader: _MemoryReader) -> None:
        self.size = page.size
        self._text = page.text()
        image = page.render(drawing_dpi(self._text.resolution))
        self._shape, self._number = image.shape, reader.remember(image)

    def text(self) -> PageText:
        return self._text

    def render(self, dpi: float) -> Image:
        blank = np.zeros(self._shape, np.uint8)
        blank.reshape(-1)[:4] = np.frombuffer(np.uint32(self._number).tobytes(), np.uint8)
        return blank

    def close(self) -> None:
        pass


class _MemorySource:
    """A document whose pages are kept."""

    def __init__(self, source: Source, reader: _MemoryReader) -> None:
        self.name = source.name
        self._outline = source.outline()
        self._pages = []
        for index in range(len(source)):
            page = source.page(index)
            self._pages.append(_MemoryPage(page, reader))
            page.close()

    def __len__(self) -> int:
        return len(self._pages)

    def outline(self) -> Any:
        return self._outline

    def page(self, index: int) -> Page:
        return self._pages[index]

    def close(self) -> None:
        pass


class _MemoryReader(SightReader):
    """A page reader that knows the sights of the pictures it was shown before, by number."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._sights: list[Path] = []

    def remember(self, image: Image) -> int:
        self._sights.append(self.path_of(image))
        return len(self._sights) - 1

    def look(self, image: Image, cancelled: threading.Event) -> Sight | None:
        number = int(np.frombuffer(image.reshape(-1)[:4].tobytes(), np.uint32)[0])
        path = self._sights[number] if number < len(self._sights) else None
        return load_sight(path) if path is not None and path.exists() else None


@dataclass(slots=True)
class Case:
    """One document: its set, its pages, its truth's place, and the Markdown and score of the last reading."""

    part: Set
    name: str
    source: Source
    markdown: str = ""
    score: float = 0.0


class Bench:
    """All documents in memory, and the scorers."""

    def __init__(self, corpus: Path, cache: Path, parts: list[Set]) -> None:
        self._corpus = corpus
        self._scorer, self._checker = (_load(corpus / "tools" / name) for name in ("score.py", "check.py"))
        reader = _MemoryReader(cache)
        self._reader = DocumentReader(lambda: Local(reader))
        self.cases: list[Case] = []
        for part in parts:
            for name, file in part.documents(corpus):
                with contextlib.closing(open_source(str(file))) as source:
                    self.cases.append(Case(part, name, _MemorySource(source, reader)))
        for case in self.cases:
            case.markdown = self._read(case)
            case.score = self._score(case, case.markdown)

    def totals(self) -> dict[str, float]:
        """The mean score of each set, as it is."""
        return self._means({id(case): case.score for case in self.cases})

    def moved(self, constant: Constant, factor: float) -> dict[str, float]:
        """The mean score of each set with a constant moved."""
        scores = {}
        with constant.moved(factor):
            for case in self.cases:
                markdown = self._read(case)
                scores[id(case)] = case.score if markdown == case.markdown else self._score(case, markdown)
        return self._means(scores)

    def _means(self, scores: dict[int, float]) -> dict[str, float]:
        by_set: dict[str, list[float]] = {}
        for case in self.cases:
            by_set.setdefault(case.part.name, []).append(scores[id(case)])
        return {name: sum(values) / len(values) for name, values in by_set.items()}

    def _read(self, case: Case) -> str:
        return export(self._reader.read(case.source, range(1, len(case.source) + 1)), Format.MD)

    def _score(self, case: Case, markdown: str) -> float:
        folder = self._corpus / case.part.folder
        if case.part.facts:
            judged = self._checker.judge(folder, case.name, markdown, case.part.scan)
            count = sum(pair[1] for pair in judged["kinds"].values())
            return 1 - len(judged["failed"]) / max(count, 1)
        truth: dict[str, Any] = json.loads((folder / f"{case.name}.truth.json").read_text("utf-8"))
        return float(self._scorer.score(truth, markdown)["strict"])


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


_BENCH: Bench | None = None


def _start(corpus: Path, cache: Path, parts: list[Set]) -> None:
    global _BENCH
    _BENCH = Bench(corpus, cache, parts)


def _move(constant: Constant) -> tuple[Constant, dict[str, float], list[dict[str, float]]]:
    assert _BENCH is not None
    return constant, _BENCH.totals(), [_BENCH.moved(constant, factor) for factor in STEPS]


def page_of(rows: list[tuple[Constant, dict[str, float], list[dict[str, float]]]], every: int) -> str:
    """The outcome as Markdown: the constants that cost any set most, first; `every` is how many there are."""
    table = []
    for constant, base, moved in rows:
        changes = [(after[name] - base[name], name) for after in moved for name in base]
        loss, where = min(changes)
        table.append((loss, where, max(changes)[0], constant))
    table.sort(key=lambda row: row[0])
    worst = table[:10]
    over = sum(loss < -LIMIT for loss, *_ in table)
    chosen = f"Each of the {every}" if len(table) == every else f"{len(table)} of the {every}, taken by chance,"
    sets = ", ".join(rows[0][1]) if rows else "nothing"
    return "\n".join(
        [
            "",
            "## Sensitivity",
            "",
            f"{chosen} decimal constants of the layout moved by a tenth up and down, and {sets} scored",
            f"again (`benchmarks/sensitivity.py`); {over} cost a set more than {LIMIT}. The ten that cost most:",
            "",
            "| constant | value | costs at most | set | gains at most |",
            "|---|---:|---:|---|---:|",
            *(f"| {c.name} | {c.value:g} | {-loss:.4f} | {where} | {gain:.4f} |" for loss, where, gain, c in worst),
            "",
        ]
    )


def measure(parts: list[Set], corpus: Path, cache: Path, only: str = "", jobs: int = 2, sample: int = 0) -> str:
    """Move every constant whose name has `only` in it, or `sample` of them by chance; the outcome as Markdown."""
    rows = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, _start, (corpus, cache, parts)) as pool:
        wanted = chosen = [constant for constant in constants() if only in constant.name]
        if 0 < sample < len(wanted):
            chosen = random.Random(SEED).sample(wanted, sample)
        for constant, base, moved in pool.imap_unordered(_move, chosen):
            rows.append((constant, base, moved))
            loss = min(after[name] - base[name] for after in moved for name in base)
            print(f"{constant.name:50} {constant.value:8g} {loss:+.4f}", file=sys.stderr, flush=True)
    return page_of(rows, len(wanted))


def main() -> int:
    parser = argparse.ArgumentParser(description="Move every constant of the layout by a tenth and score again.")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, default=SHARED)
    parser.add_argument("--sets", default=",".join(part.name for part in SETS))
    parser.add_argument("--only", default="", help="part of a constant's name")
    parser.add_argument("--sample", type=int, default=0, help="so many of them, by chance; 0: all")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    parts = [part for part in SETS if part.name in arguments.sets.split(",")]
    page = measure(parts, arguments.corpus, arguments.cache, arguments.only, arguments.jobs, arguments.sample)
    if arguments.output:
        arguments.output.write_text(page, "utf-8")
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
