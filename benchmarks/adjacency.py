"""How well tables are read: neighbouring cells, as ICDAR 2013 judged them.

    python benchmarks/adjacency.py DIR [--scans] [--names stats1,pairs2] [--out DIR] [--cache DIR]

DIR is what `pages_maker.py` made, or a folder of the ICDAR 2013 table competition (`X.pdf` beside `X-str.xml`). Each
cell with text is a neighbour of the next one with text to its right and below it, over blank cells as well. Precision
and recall are over all such pairs of a document, so a table where none is costs precision. With `--scans` each page is
drawn at 200 dots an inch and recognised; a cell that is nearly the text of one of the truth then counts as that.
`--cache` keeps what was recognised.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise, product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

DPI: Final = 200
ALIKE: Final = 80
"""Ratio from which recognised text stands for that of the truth."""

Grid = list[list[int]]
"""At each place the number of the cell that covers it, or -1."""
Pair = tuple[str, str, str]


def plain(text: str) -> str:
    """Text without spaces, marks above the line set level, signs of one look made one."""
    text = unicodedata.normalize("NFKC", html.unescape(re.sub(r"</?(?:sup|sub|br|b|i)\b[^>]*>", "", text)))
    return re.sub(r"\s+", "", text.translate({0x2010: "-", 0x2011: "-", 0x2013: "-", 0x2212: "-", 0x2019: "'"}))


def grid_of(rows: Sequence[Sequence[tuple[str, int, int]]]) -> tuple[Grid, list[str]]:
    """Places of cells given as (text, rows, columns) in rows."""
    places: dict[tuple[int, int], int] = {}
    texts: list[str] = []
    for r, row in enumerate(rows):
        c = 0
        for text, down, across in row:
            while (r, c) in places:
                c += 1
            places.update({(r + i, c + j): len(texts) for i in range(down) for j in range(across)})
            texts.append(plain(text))
            c += across
    return _filled(places), texts


def _filled(places: Mapping[tuple[int, int], int]) -> Grid:
    height, width = (max((place[i] for place in places), default=-1) + 1 for i in (0, 1))
    return [[places.get((r, c), -1) for c in range(width)] for r in range(height)]


def pairs_of(grid: Grid, texts: Sequence[str]) -> Counter[Pair]:
    """Neighbours of a table: texts of both, and whether right or below."""
    found: set[tuple[int, int, str]] = set()
    for way, lines in (("right", grid), ("below", list(zip(*grid, strict=True)))):
        for line in lines:
            filled = [cell for cell in line if cell >= 0 and texts[cell]]
            found |= {(a, b, way) for a, b in pairwise(filled) if a != b}
    return Counter((texts[a], texts[b], way) for a, b, way in found)


def tables_of(markdown: str) -> Iterator[tuple[Grid, list[str]]]:
    """The tables of a Markdown text, piped or HTML."""
    for block in re.split(r"\n[ \t]*\n", markdown):
        if "<table" in block:
            rows = re.findall(r"<tr.*?</tr>", block, re.DOTALL)
            yield grid_of(
                [[(text, _span(keys, "row"), _span(keys, "col")) for keys, text in _cells(row)] for row in rows]
            )
        elif block.lstrip().startswith("|"):
            lines = [line.strip().strip("|") for line in block.split("\n") if line.strip()]
            cells = [[re.sub(r"\\(.)", r"\1", cell) for cell in re.split(r"(?<!\\)\|", line)] for line in lines]
            kept = [row for row in cells if not all(re.fullmatch(r"\s*:?-{3,}:?\s*", cell) for cell in row)]
            yield grid_of([[(cell, 1, 1) for cell in row] for row in kept])


def _cells(row: str) -> list[tuple[str, str]]:
    return re.findall(r"<t[hd]([^>]*)>(.*?)</t[hd]>", row, re.DOTALL)


def _span(keys: str, axis: str) -> int:
    match = re.search(rf'{axis}span="(\d+)"', keys)
    return int(match[1]) if match else 1


def truth_pairs(truth: dict[str, Any]) -> tuple[Counter[Pair], list[str]]:
    """The neighbours of a document's tables, and all their cells' texts."""
    pairs: Counter[Pair] = Counter()
    all_texts: list[str] = []
    for block in (block for page in truth["pages"] for block in page["blocks"] if block["type"] == "table"):
        grid, texts = grid_of([[(c["text"], c["rowspan"], c["colspan"]) for c in row] for row in block["cells"]])
        pairs += pairs_of(grid, texts)
        all_texts += texts
    return pairs, all_texts


def competition_pairs(file: Path) -> tuple[Counter[Pair], list[str]]:
    """The same of a document of the competition: a table may be parted into regions, one a page, that go on to the
    right or below by as many columns or rows as they say; of several cells at one place the first counts."""
    pairs: Counter[Pair] = Counter()
    all_texts: list[str] = []
    for table in ElementTree.parse(file).iter("table"):
        places: dict[tuple[int, int], int] = {}
        texts: list[str] = []
        for region in table.iter("region"):
            down, across = (int(region.get(f"{way}-increment", 0)) for way in ("row", "col"))
            for cell in region.iter("cell"):
                row, column = (int(cell.get(f"start-{way}", 0)) for way in ("row", "col"))
                last_row, last_column = int(cell.get("end-row", row)), int(cell.get("end-col", column))
                for r, c in product(range(row, last_row + 1), range(column, last_column + 1)):
                    places.setdefault((r + down, c + across), len(texts))
                texts.append(plain(cell.findtext("content") or ""))
        pairs += pairs_of(_filled(places), texts)
        all_texts += texts
    return pairs, all_texts


def read_pairs(markdown: str, texts: Sequence[str], fuzzy: bool) -> Counter[Pair]:
    """The neighbours of what was read."""
    pairs: Counter[Pair] = Counter()
    for grid, own in tables_of(markdown):
        pairs += pairs_of(grid, [_nearest(text, texts) for text in own] if fuzzy else own)
    return pairs


def _nearest(text: str, texts: Sequence[str]) -> str:
    from rapidfuzz import fuzz, process

    if not text or text in texts:
        return text
    found = process.extractOne(text, [other for other in texts if other], scorer=fuzz.ratio, score_cutoff=ALIKE)
    return str(found[0]) if found else text


def f1(common: int, read: int, true: int) -> float:
    """Of pairs in common, read and true; 1 where there is nothing to read and nothing was."""
    return 2 * common / (read + true) if read + true else 1.0


_engine: Any = None


def _read(job: tuple[Path, Path, bool, Path]) -> str:
    """Read one document to Markdown; its pages as pictures where it is to be a scan."""
    global _engine
    from benchmarks.sights import SightReader
    from warmwire.client import Local
    from warmwire.documents.input.open import open_source
    from warmwire.documents.output.export import export
    from warmwire.documents.output.formats import Format
    from warmwire.documents.reading.reader import DocumentReader

    file, output, scan, cache = job
    if _engine is None:
        _engine = SightReader(cache)
    if scan:
        picture = cache / f"{file.parent.name}-{file.stem}.tiff"
        if not picture.exists():
            _draw(file, picture)
        file = picture
    source = open_source(str(file))
    try:
        reading = DocumentReader(lambda: Local(_engine), jobs=1).read(source, range(1, len(source) + 1))
        text = export(reading, Format.MD)
    finally:
        source.close()
    output.write_text(text, "utf-8")
    return text


def _draw(file: Path, picture: Path) -> None:
    import pypdfium2

    document = pypdfium2.PdfDocument(file)
    pages = [page.render(scale=DPI / 72).to_pil().convert("L") for page in document]
    pages[0].save(picture, save_all=True, append_images=pages[1:], dpi=(DPI, DPI), compression="tiff_lzw")
    document.close()


def _known(file: Path) -> tuple[Counter[Pair], list[str], str]:
    """The true neighbours of a document, its cells' texts, and what its maker says of it."""
    made = file.with_suffix(".truth.json")
    if made.exists():
        known = json.loads(made.read_text("utf-8"))
        return *truth_pairs(known), str(known["notes"])
    return *competition_pairs(file.with_name(f"{file.stem}-str.xml")), ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scans", action="store_true")
    parser.add_argument("--names", default="")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    out = options.out or Path(tempfile.mkdtemp(prefix="adjacency-"))
    cache = options.cache or out / "seen"
    for folder in (out, cache):
        folder.mkdir(parents=True, exist_ok=True)
    names = set(filter(None, options.names.split(",")))
    files = [file for file in sorted(options.folder.glob("*.pdf")) if not names or file.stem in names]
    jobs = [(file, out / f"{file.stem}.md", options.scans, cache) for file in files]
    sums: dict[str, list[float]] = {}
    total: Counter[str] = Counter()
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for file, text in zip(files, pool.map(_read, jobs), strict=True):
            truth, texts, notes = _known(file)
            read = read_pairs(text, texts, options.scans)
            common = (truth & read).total()
            score = f1(common, read.total(), truth.total())
            total.update(common=common, read=read.total(), true=truth.total())
            sums.setdefault(re.sub(r"\d+$", "", file.stem), []).append(score)
            if names or score < 1:
                counts = f"of {truth.total()} pairs {common}, read {read.total()}"
                print(f"  {file.stem:16} {score:.3f}  {counts}; {notes}")
    for kind, scores in sums.items():
        print(f"{kind:16} {sum(scores) / len(scores):.4f}  {' '.join(f'{score:.2f}' for score in scores)}")
    every = [score for scores in sums.values() for score in scores]
    pairs = f1(total["common"], total["read"], total["true"])
    mean = sum(every) / max(1, len(every))
    print(f"{len(every)} documents: mean {mean:.4f}, over all pairs {pairs:.4f}; output in {out}")


if __name__ == "__main__":
    main()
