"""What reading a page with text of its own costs and gives: beside bare text, and beside another maker of Markdown.

    python benchmarks/digital.py [--seconds 60] [--json]

Documents are the digital ones of tests/data/scored, whose text is known. Ours is the whole way: opened, routed,
structured, Markdown; no page of these needs a model. pypdfium2 gives what is in the file, in its order, which is the
limit; pymupdf4llm is a process of its own, from the peers' environment. Seconds are of the processor, one thread each.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import peers
from benchmarks.corpus import DATA, SMALL
from benchmarks.rows import Budget, Note, Rows, exact, growth, in_turn, paired
from benchmarks.table import show
from benchmarks.words import f1, truth_of
from warmwire.client import Engine
from warmwire.documents.input.open import open_source
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.reader import DocumentReader

GROUP: Final = "digital pages"
PEER: Final = "pymupdf4llm"
REPEATED: Final = "letter"
"""The document of one page that long documents are made of."""
GROWTH: Final = 1.1
"""The most that seconds may grow with pages, as an exponent."""
PROGRAM: Final = """
import json, sys, time
import pymupdf4llm
sys.stdout, out = sys.stderr, sys.stdout
for line in sys.stdin:
    begun = time.process_time()
    texts = [pymupdf4llm.to_markdown(path, use_ocr=False) for path in json.loads(line)]
    print(json.dumps([time.process_time() - begun, texts]), file=out, flush=True)
"""


def no_engine() -> Engine:
    raise AssertionError("a digital page went to a model")


def ours(paths: Sequence[Path]) -> list[str]:
    """The Markdown of each."""
    reader = DocumentReader(no_engine)
    texts = []
    for path in paths:
        with contextlib.closing(open_source(str(path))) as source:
            texts.append(export(reader.read(source, range(1, len(source) + 1)), Format.MD))
    return texts


def bare(paths: Sequence[Path]) -> list[str]:
    """The text of each as the file has it."""
    import pypdfium2

    texts = []
    for path in paths:
        with contextlib.closing(pypdfium2.PdfDocument(path)) as pdf:
            texts.append("\n".join(page.get_textpage().get_text_bounded() for page in pdf))
    return texts


@contextlib.contextmanager
def other() -> Iterator[Callable[[Sequence[Path]], tuple[float, list[str]]]]:
    """Seconds that the peer takes for documents, and its Markdown."""
    command = [peers.python(), "-c", PROGRAM]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]

        def read(paths: Sequence[Path]) -> tuple[float, list[str]]:
            print(json.dumps([str(path) for path in paths]), file=process.stdin, flush=True)
            seconds, texts = json.loads(process.stdout.readline())
            return seconds, texts

        yield read


def worked(call: Callable[[], object]) -> float:
    """Processor seconds that it takes."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def page_rows(seconds: float, beside_peer: bool) -> Rows:
    """Pages a second, and the F1 of their words."""
    documents = [(name, path) for name, path in SMALL.documents(DATA) if path.suffix == ".pdf"]
    paths = [path for _, path in documents]
    truths = [truth_of(DATA, SMALL, name)[:2] for name, _ in documents]
    pages = sum(map(_length, paths))

    def rate() -> float:
        return pages / worked(lambda: ours(paths))

    pairs = in_turn(rate, lambda: pages / worked(lambda: bare(paths)), seconds / 3)
    yield paired(GROUP, "pages", "/s", "pypdfium2, bare text", pairs, more=True)
    if not beside_peer:
        return
    if not peers.there(PEER):
        yield Note(GROUP, f"{PEER} is not installed; left out")
        return
    with other() as read:
        read(paths[:1])  # its models are loaded
        texts: list[str] = []

        def theirs() -> float:
            taken, texts[:] = read(paths)
            return pages / taken

        pairs = in_turn(rate, theirs, seconds / 2, warm=False)
        yield paired(GROUP, "pages", "/s", PEER, pairs, more=True)
        mine, others = (
            f1((text, *truth) for text, truth in zip(each, truths, strict=True)) for each in (ours(paths), texts)
        )
        yield exact(GROUP, f"words' F1, {len(paths)} documents", PEER, (mine, others), len(paths))


def _length(path: Path) -> int:
    with contextlib.closing(open_source(str(path))) as source:
        return len(source)


def growth_row(counts: Sequence[int]) -> Rows:
    """How reading grows with the pages of a document."""
    import pikepdf

    page = dict(SMALL.documents(DATA))[REPEATED]
    points = []
    with tempfile.TemporaryDirectory(prefix="warmwire-") as folder:
        for count in counts:
            path = Path(folder) / f"{count}.pdf"
            with pikepdf.new() as long, pikepdf.open(page) as one:
                for _ in range(count):
                    long.pages.append(one.pages[0])
                long.save(path)
            repeats = 3 if count < 100 else 1
            points.append((count, min(worked(lambda path=path: ours([path])) for _ in range(repeats))))  # type: ignore[misc]
    yield growth(GROUP, "pages of a document", ("pages", "processor s"), points, wanted=GROWTH)


def rows(budget: Budget) -> Rows:
    yield from page_rows(budget.share(0.4), not budget.quick)
    yield from growth_row((1, 10, 30) if budget.quick else (1, 10, 100, 1000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="about so long")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    show(rows(Budget(options.seconds)), options.json)


if __name__ == "__main__":
    main()
