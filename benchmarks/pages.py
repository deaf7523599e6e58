"""What reading a scanned page costs and gives, beside other readers: one table, one run, the same pages.

    python benchmarks/pages.py [--corpus DIR] [--sets scans,hard,replicas-scan] [--quick] [--install DIR]
                               [--readers warmwire,tesseract] [--output docs/performance.md]

Every reader gets the same pictures, one thread, and a process a core. Seconds are of the processor, so that what else
runs on the machine matters little; pages a minute are of the clock. The letters' error is the scorer's (`corpus`), and
with it the order of reading; words' F1 is of all words of a document, in any order. Tesseract is left out with a line
where it is not installed; rapidocr and faster-paddle are installed into a folder of their own (`--install`), never
beside what we need ourselves, and left out where that fails. `--quick` takes every sixth document.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import peers
from benchmarks.corpus import DATA, ROOT, SETS, SHARED, SMALL, Set
from benchmarks.rows import Budget, Note, Rows, exact, paired
from benchmarks.words import f1, truth_of

CORES: Final = 2
DPI: Final = 200
LANGUAGES: Final = {"en": "eng", "fr": "fra", "de": "deu", "es": "spa", "zh": "chi_sim", "ja": "jpn"}
PARTS: Final = {"turn": "orientation", "detect": "detection"}


@dataclass(slots=True)
class Outcome:
    """What one document took: processor seconds in all and by part, pages, and lines by reader."""

    seconds: float = 0.0
    pages: int = 0
    parts: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)


# ---------------------------------------------------------------------- readers, each in a process of its own


class Ours:
    """The page reader, in this process, its parts timed."""

    def __init__(self, quality: str) -> None:
        from warmwire.client import Local
        from warmwire.documents.reading.reader import DocumentReader, ReadOptions
        from warmwire.models.effort import Quality
        from warmwire.models.pages.reader import PageReader

        self.parts: Counter[str] = Counter()
        self.lines: Counter[str] = Counter()
        pages = PageReader(1, Quality(quality))
        engines: Any = pages._engines
        for name, part in PARTS.items():
            setattr(engines, name, self._timed(getattr(engines, name), part))
        for name in ("_tiny", "_small"):
            setattr(engines, name, self._timed(getattr(engines, name), f"recognition, {name[1:]}"))
        look = pages.look

        def counted(*given: Any) -> Any:
            sight = look(*given)
            self.lines.update(sight.readers if sight else {})
            return sight

        pages.look = self._timed(counted, "look")  # type: ignore[method-assign]
        self._reader = DocumentReader(lambda: Local(pages), ReadOptions(dpi=DPI, force=True))

    def _timed(self, call: Callable[..., Any], part: str) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            started = time.process_time()
            try:
                return call(*given, **named)
            finally:
                self.parts[part] += time.process_time() - started

        return timed

    def read(self, file: Path, language: str) -> tuple[str, int]:
        """A document's Markdown, and how many pages it has."""
        from warmwire.documents.input.open import open_source
        from warmwire.documents.output.export import export
        from warmwire.documents.output.formats import Format

        source = open_source(str(file))
        reading = self._reader.read(source, range(1, len(source) + 1))
        source.close()
        return export(reading, Format.MD), len(reading.pages)


class Other:
    """A reader that gives the text of a picture."""

    def read(self, file: Path, language: str) -> tuple[str, int]:
        texts = [self.text(image, language) for image in pictures(file)]
        return "\n\n".join(texts), len(texts)

    def text(self, image: Any, language: str) -> str:
        raise NotImplementedError


class Tesseract(Other):
    """Tesseract as a command, one thread, with the language that the page is in."""

    def text(self, image: Any, language: str) -> str:
        from PIL import Image

        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            Image.fromarray(image).save(file.name, dpi=(DPI, DPI), compress_level=1)
            command = ["tesseract", file.name, "-", "-l", LANGUAGES.get(language, "eng")]
            environment = os.environ | {"OMP_THREAD_LIMIT": "1"}
            return subprocess.run(command, capture_output=True, text=True, check=False, env=environment).stdout


class RapidOcr(Other):
    """rapidocr as it comes, on one thread."""

    def __init__(self) -> None:
        from rapidocr import RapidOCR

        threads = {"EngineConfig.onnxruntime.intra_op_num_threads": 1, "Global.log_level": "critical"}
        self._engine = RapidOCR(params=threads)

    def text(self, image: Any, language: str) -> str:
        return "\n".join(self._engine(image[:, :, ::-1]).txts or ())


class FasterPaddle(Other):
    """faster-paddle as it comes, on one thread."""

    def __init__(self, size: str) -> None:
        from faster_paddle import OcrEngine

        self._engine = OcrEngine(model_size=size, threads=1)

    def text(self, image: Any, language: str) -> str:
        from io import BytesIO

        from PIL import Image

        file = BytesIO()
        Image.fromarray(image).save(file, "bmp")
        return str(self._engine.ocr(file.getvalue())["text"])


READERS: Final[dict[str, Callable[[], Any]]] = {
    "warmwire": lambda: Ours("auto"),
    "warmwire, fast": lambda: Ours("fast"),
    "warmwire, best": lambda: Ours("best"),
    "tesseract": Tesseract,
    "rapidocr": RapidOcr,
    "faster-paddle, small": lambda: FasterPaddle("small"),
    "faster-paddle, tiny": lambda: FasterPaddle("tiny"),
}


def there(name: str, folder: Path) -> bool:
    """Whether a reader can be had; the other packages are installed into `folder` when they are not there."""
    if name == "tesseract":
        return shutil.which("tesseract") is not None
    package = name.partition(",")[0]
    return package not in peers.PACKAGES or peers.install(package, folder)


def pictures(file: Path) -> Iterator[Any]:
    """A document's pages as pictures."""
    from warmwire.documents.input.open import open_source

    source = open_source(str(file))
    for index in range(len(source)):
        page = source.page(index)
        yield page.render(DPI)
        page.close()
    source.close()


_reader: Any = None


def _load(name: str, installed: Path) -> None:
    global _reader
    if name.partition(",")[0] in peers.PACKAGES:
        sys.path.insert(0, str(peers.site(installed)))
    _reader = READERS[name]()


def _read(file: Path, language: str, output: Path) -> Outcome:
    before = _seconds()
    parts, lines = (Counter(getattr(_reader, key, {})) for key in ("parts", "lines"))
    text, pages = _reader.read(file, language)
    taken = _seconds() - before
    output.write_text(text, "utf-8")
    return Outcome(
        taken, pages, Counter(getattr(_reader, "parts", {})) - parts, Counter(getattr(_reader, "lines", {})) - lines
    )


def _seconds() -> float:
    """Processor seconds of this process and of the commands that it ran."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(who.ru_utime + who.ru_stime for who in used)


# ---------------------------------------------------------------------- what came out


@dataclass(slots=True)
class Result:
    """One reader on one set."""

    pages: int = 0
    seconds: float = 0.0
    minutes: float = 0.0
    error: float | None = None
    words: float = 0.0
    parts: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)


def measure(name: str, chosen: Set, corpus: Path, results: Path, step: int, installed: Path) -> Result:
    """Read every `step`th document of a set with a process a core, and score what came out."""
    documents = list(chosen.documents(corpus))[::step]
    folder = results / chosen.folder
    folder.mkdir(parents=True, exist_ok=True)
    truths = {document: truth_of(corpus, chosen, document) for document, _ in documents}
    row = Result()
    with ProcessPoolExecutor(CORES, get_context("spawn"), _load, (name, installed)) as pool:
        list(pool.map(time.sleep, [0.5] * CORES))  # both have loaded
        started = time.monotonic()
        jobs = [pool.submit(_read, file, truths[d][2], folder / chosen.output(d)) for d, file in documents]
        for job in jobs:
            outcome = job.result()
            row.pages += outcome.pages
            row.seconds += outcome.seconds
            row.parts += outcome.parts
            row.lines += outcome.lines
        row.minutes = (time.monotonic() - started) / 60
    row.words = f1(((folder / chosen.output(d)).read_text("utf-8"), *truths[d][:2]) for d, _ in documents)
    if not chosen.facts:
        files = chosen.score(corpus, folder)["files"]
        row.error = sum(files[d]["cer"] for d, _ in documents) / len(documents)
    return row


# ---------------------------------------------------------------------- rows of the table


GROUP: Final = "scanned pages"
BESIDE: Final = {"tesseract": 0.2, "faster-paddle, tiny": 0.2, "rapidocr": 0.6}
"""Peers as they come, and what each takes of the time: tiny is what faster-paddle takes when it is not told. The
slowest is last, and has what the others left."""
LOADING: Final = 8.0
"""Seconds that both take to load, and a part to end."""
PARTS_READ: Final = 6
"""Parts of a sample, as many as there is time for; each is read by both in turn."""

Document = tuple[Path, Set, str, Path]
"""The folder that its set is in, its set, its name and its file."""


def sample(each: int, small: int) -> list[list[Document]]:
    """Documents of all sets that are here, spread evenly over each, in parts with as many of each set."""
    chosen = [(DATA, SMALL, small), *((SHARED, one, each) for one in SETS if not one.judged and one.name != "replicas")]
    parts: list[list[Document]] = [[] for _ in range(PARTS_READ)]
    for corpus, one, count in chosen:
        documents = [(corpus, one, name, file) for name, file in one.documents(corpus)]
        count = min(count, len(documents))
        for i in range(count):
            parts[i % PARTS_READ].append(documents[i * len(documents) // count])
    return parts


@contextmanager
def loaded(name: str) -> Iterator[Callable[[Sequence[Document]], list[tuple[Outcome, str]]]]:
    """Reads documents with a process a core, all of them loaded; gives what each took, and its text."""
    with (
        tempfile.TemporaryDirectory(prefix="warmwire-") as folder,
        ProcessPoolExecutor(CORES, get_context("spawn"), _load, (name, peers.FOLDER)) as pool,
    ):
        list(pool.map(time.sleep, [0.5] * CORES))

        def read(documents: Sequence[Document]) -> list[tuple[Outcome, str]]:
            outputs = [Path(folder) / f"{one.name}-{document}.md" for _, one, document, _ in documents]
            jobs = [
                pool.submit(_read, file, truth_of(corpus, one, document)[2], output)
                for (corpus, one, document, file), output in zip(documents, outputs, strict=True)
            ]
            return [(job.result(), output.read_text("utf-8")) for job, output in zip(jobs, outputs, strict=True)]

        yield read


def beside(peer: str, parts: Sequence[Sequence[Document]], seconds: float) -> Rows:
    """Ours and a peer, part by part in turn, until the seconds are over."""
    until = time.monotonic() + seconds
    speeds: list[tuple[float, float]] = []
    costs: list[tuple[float, float]] = []
    read: list[tuple[Document, str, str]] = []
    with loaded("warmwire") as ours, loaded(peer) as theirs:
        longest = 0.0
        for i, part in enumerate(parts):
            begun = time.monotonic()
            if read and begun + longest > until:
                break
            sides = {}
            for side in (ours, theirs) if i % 2 else (theirs, ours):
                started = time.monotonic()
                sides[side] = side(part), time.monotonic() - started
            (mine, my_time), (others, their_time) = sides[ours], sides[theirs]
            pages = sum(outcome.pages for outcome, _ in mine)
            speeds.append((60 * pages / my_time, 60 * pages / their_time))
            seconds_each = [sum(outcome.seconds for outcome, _ in side) / pages for side in (mine, others)]
            costs.append((seconds_each[0], seconds_each[1]))
            read += [(d, one[1], two[1]) for d, one, two in zip(part, mine, others, strict=True)]
            longest = max(longest, time.monotonic() - begun)
    yield paired(GROUP, "speed", "pages/min", peer, speeds, more=True)
    yield paired(GROUP, "processor seconds a page", "s", peer, costs, more=False)
    for corpus, name in ((DATA, "tests/data"), (SHARED, "../shared")):
        scored = [(*texts, *truth_of(corpus, d[1], d[2])[:2]) for d, *texts in read if d[0] == corpus]
        if scored:
            both = [f1((text[side], *text[2:]) for text in scored) for side in (0, 1)]
            yield exact(GROUP, f"words' F1 of {len(scored)} documents of {name}", peer, (both[0], both[1]), len(scored))


def rows(budget: Budget) -> Rows:
    """Beside each peer that is here, within a time that goes by how slow they are."""
    parts = sample(0, PARTS_READ) if budget.quick else sample(PARTS_READ, 2 * PARTS_READ)
    until = time.monotonic() + budget.share(1.0)
    if not budget.quick and not SHARED.exists():
        yield Note(GROUP, "the sets of ../shared are not here; only tests/data is read")
    left = dict(list(BESIDE.items())[: 1 if budget.quick else None])
    for peer in tuple(left):
        if there(peer, peers.FOLDER):
            part = left[peer] / sum(left.values())
            yield from beside(peer, parts, part * (until - time.monotonic()) - LOADING)
        else:
            yield Note(GROUP, f"{peer} is not installed; left out")
        del left[peer]


def memory(workers: int, page: Any) -> float:
    """Megabytes that a host's workers take together after each has read a page, shared memory parted between them."""
    from concurrent.futures import ThreadPoolExecutor

    from warmwire.client import dial
    from warmwire.host.daemon import PrivateHost

    host = PrivateHost("pages", workers=workers, threads=CORES)
    try:
        with ThreadPoolExecutor(workers) as threads:
            list(threads.map(lambda address: dial(address).read(page), [host.wait()] * workers))
        return sum(_proportional(pid) for pid in _workers()) / 1024
    finally:
        host.close()


def _workers() -> list[int]:
    tasks = os.listdir("/proc/self/task")
    children = [pid for task in tasks for pid in Path(f"/proc/self/task/{task}/children").read_text().split()]
    return [int(pid) for pid in children if b"host.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def _proportional(pid: int) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[1])  # type: ignore[index]


# ---------------------------------------------------------------------- as a page of docs


def table(rows: dict[tuple[str, str], Result]) -> Iterator[str]:
    """All readers on all sets."""
    yield "| set | reader | pages | processor s / page | pages / min | letters' error | words' F1 |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for (chosen, name), row in rows.items():
        error = "–" if row.error is None else f"{row.error:.4f}"
        yield (
            f"| {chosen} | {name} | {row.pages} | {row.seconds / row.pages:.2f} | {row.pages / row.minutes:.0f} "
            f"| {error} | {row.words:.4f} |"
        )


def by_part(rows: dict[tuple[str, str], Result]) -> Iterator[str]:
    """Where our own seconds go."""
    for name in (name for name in READERS if name.startswith("warmwire")):
        ours = [row for (_, reader), row in rows.items() if reader == name]
        parts, lines = Counter[str](), Counter[str]()
        for row in ours:
            parts += row.parts
            lines += row.lines
        pages, seconds = sum(row.pages for row in ours), sum(row.seconds for row in ours)
        if not pages:
            continue
        look = parts.pop("look", 0.0)
        parts["cutting out, measuring ink"] = look - sum(parts.values())
        parts["drawing, structure, export"] = seconds - look
        split = ", ".join(f"{part} {value / pages:.2f}" for part, value in parts.most_common())
        yield f"- {name}: {split}. Pictures of lines: " + ", ".join(f"{n} by {who}" for who, n in lines.items()) + "."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=SHARED)
    parser.add_argument("--sets", default="scans,hard,replicas-scan")
    parser.add_argument("--readers", default=",".join(READERS).replace(", ", "; "), help="separated by commas")
    parser.add_argument("--install", type=Path, help="a folder for the other readers; for this run only if not given")
    parser.add_argument("--quick", action="store_true", help="every sixth document")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "performance.md")
    options = parser.parse_args()
    sets = [chosen for chosen in SETS if chosen.name in options.sets.split(",")]
    names = [name.replace("; ", ", ") for name in options.readers.split(",")]
    rows: dict[tuple[str, str], Result] = {}
    with tempfile.TemporaryDirectory() as folder:
        installed = options.install or Path(folder) / "installed"
        known = [name for name in names if there(name, installed)]
        for name in set(names) - set(known):
            print(f"{name} is not installed; left out")
        for chosen in sets:
            for name in known:
                row = measure(name, chosen, options.corpus, Path(folder) / name, 6 if options.quick else 1, installed)
                rows[chosen.name, name] = row
                print(*list(table({(chosen.name, name): row}))[2:], flush=True)
    page = next(pictures(next(sets[0].documents(options.corpus))[1]))
    held = [memory(workers, page) for workers in (1, 2)]
    parts = list(by_part(rows))
    print(*parts, f"memory of 1 and 2 workers: {held[0]:.0f} and {held[1]:.0f} MB", sep="\n")
    write(options.output, rows, parts, held)


def write(path: Path, rows: dict[tuple[str, str], Result], parts: list[str], held: list[float]) -> None:
    """Put the figures into their page, between the marks; what is written around them stays."""
    start, end = "<!-- figures -->", "<!-- end of figures -->"
    memory_held = f"Memory of one worker {held[0]:.0f} MB, of two {held[1]:.0f} MB (what they share is parted)."
    lines = [start, "", *table(rows), "", "Processor seconds a page by part:", "", *parts, "", memory_held, "", end]
    figures = "\n".join(lines)
    text = path.read_text("utf-8") if path.exists() else f"# What a page costs\n\n{start}{end}\n"
    path.write_text(re.sub(f"{start}.*{end}", lambda _: figures, text, flags=re.DOTALL), "utf-8")


if __name__ == "__main__":
    main()
