"""A small measure of how well pages are read, which needs nothing beside this project.

    python benchmarks/small.py            # reads tests/data/scored and prints a line a document
    python benchmarks/small.py --make     # makes these documents anew; needs weasyprint, see pages_maker

Documents are made, so all of their text is known: one of each kind below, digital, and two of them as a scanner would
leave them. Three shares are told of each, of what is right: `letters` of the text in reading order, without spaces;
`blocks` of headings, paragraphs and list items that came out whole and as what they are; `cells` of tables, by their
text. It is a guard against steps back; the sets of `quality.py` are larger, harder, and weigh more.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from warmwire.documents.input.open import open_source
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.reader import DocumentReader
from warmwire.engines import PageEngines

FOLDER: Final = Path(__file__).resolve().parent.parent / "tests" / "data" / "scored"
KINDS: Final = ("paper", "news", "contract", "letter", "listing", "toc", "booktabs", "timetable", "recipe", "minutes")
SCANNED: Final = ("email", "statement")
SEED: Final = "small 1"

WHOLE: Final = 95
"""Ratio from which a block counts as come out whole."""

_APART: Final = ("page_header", "page_footer", "picture")
"""Blocks that Markdown leaves out or has elsewhere."""


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of what is right; `cells` is None where there is no table."""

    letters: float
    blocks: float
    cells: float | None


Block = tuple[str, str]
"""A kind (heading, text, item, table) and its letters."""


def score(truth: dict[str, Any], markdown: str) -> Score:
    """A document's Markdown against its truth."""
    wanted = [b for page in truth["pages"] for b in page["blocks"] if b["type"] not in _APART]
    expected = [(_kind(block["type"]), _letters(block["text"])) for block in wanted]
    found = list(_blocks(markdown))
    texts = ["".join(letters for _, letters in blocks) for blocks in (expected, found)]
    plain = [block for block in expected if block[0] != "table"]
    whole = sum(_take(block, found) for block in plain)
    cells = [_letters(cell["text"]) for b in wanted if b["type"] == "table" for row in b["cells"] for cell in row]
    return Score(
        Levenshtein.normalized_similarity(*texts),
        whole / len(plain) if plain else 1.0,
        _shared(cells, _cells(markdown)) if cells else None,
    )


def _kind(type_: str) -> str:
    return {"title": "heading", "heading": "heading", "list_item": "item", "table": "table"}.get(type_, "text")


def _letters(text: str) -> str:
    """Text without spaces and without what Markdown adds to it; signs of one look are one."""
    text = unicodedata.normalize("NFKC", text).translate({0x2010: "-", 0x2011: "-", 0x2013: "-", 0x2019: "'"})
    return re.sub(r"[\s\\*_`]", "", text)


def _blocks(markdown: str) -> Iterator[Block]:
    """What Markdown says, block by block; the lines of a table are one."""
    text = re.sub(r"<!--.*?-->", "", markdown, flags=re.DOTALL)
    for part in re.split(r"\n{2,}", text):
        if part.startswith("|"):
            yield "table", _letters("".join(_cells(part)))
            continue
        for piece in re.split(r"\n(?=\s*(?:[-*+]|\d+[.)])\s)", part):
            if not _letters(piece):
                continue
            marked = re.match(r"\s*(?:[-*+]|\d+[.)])\s+", piece)
            if piece.startswith("#"):
                yield "heading", _letters(piece.lstrip("#"))
            elif marked:
                yield "item", _letters(piece[marked.end() :])
            else:
                yield "text", _letters(piece.strip("`"))


def _cells(markdown: str) -> list[str]:
    rows = [line for line in markdown.splitlines() if line.startswith("|") and not re.fullmatch(r"[|\s:-]+", line)]
    return [_letters(cell) for row in rows for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def _take(block: Block, found: list[Block]) -> bool:
    """Whether a block came out; it then stands for no other."""
    for i, other in enumerate(found):
        if other[0] == block[0] and fuzz.ratio(other[1], block[1]) >= WHOLE:
            del found[i]
            return True
    return False


def _shared(wanted: list[str], found: list[str]) -> float:
    """F1 of two bags of cells, empty ones aside."""
    a, b = Counter(filter(None, wanted)), Counter(filter(None, found))
    return 2 * (a & b).total() / max(a.total() + b.total(), 1)


def measure(folder: Path = FOLDER) -> dict[str, Score]:
    """Read and score every document of a folder, with one worker for those that a model reads."""
    scores = {}
    engines = PageEngines(None, "pages", 1)
    with contextlib.closing(engines), contextlib.closing(DocumentReader(engines.connect, jobs=engines.jobs)) as reader:
        for path in sorted(folder.glob("*.truth.json")):
            truth = json.loads(path.read_text("utf-8"))
            with contextlib.closing(open_source(str(folder / truth["file"]))) as source:
                reading = reader.read(source, range(1, len(source) + 1))
            scores[path.name.removesuffix(".truth.json")] = score(truth, export(reading, Format.MD))
    return scores


def table(scores: dict[str, Score]) -> Iterator[str]:
    """The scores as lines of Markdown."""
    yield "| document | letters | blocks | cells |"
    yield "|---|---:|---:|---:|"
    for name, one in scores.items():
        cells = "–" if one.cells is None else f"{one.cells:.3f}"
        yield f"| {name} | {one.letters:.3f} | {one.blocks:.3f} | {cells} |"


def make(folder: Path) -> None:
    """Make the documents anew."""
    from weasyprint import HTML

    from benchmarks.pages_maker import made

    folder.mkdir(parents=True, exist_ok=True)
    for kind in (*KINDS, *SCANNED):
        sheet = made(kind, SEED)
        document = HTML(string=sheet.markup()).render()
        path = folder / f"{kind}.pdf"
        document.write_pdf(path)
        if kind in SCANNED:
            path = _scan(path)
        truth = sheet.truth(kind, path.name, len(document.pages))
        (folder / f"{kind}.truth.json").write_text(json.dumps(truth, ensure_ascii=False) + "\n", "utf-8")


def _scan(path: Path) -> Path:
    """The pages as a scanner leaves them: 150 dots an inch, a little askew, grey paper, sixteen greys."""
    import pypdfium2
    from PIL import Image

    sheets = []
    with contextlib.closing(pypdfium2.PdfDocument(path)) as pdf:
        for page in pdf:
            image = page.render(scale=150 / 72, grayscale=True).to_pil()
            image = image.rotate(0.6, Image.Resampling.BICUBIC, fillcolor=255)
            sheets.append(image.point(lambda grey: 24 + grey * 216 // 255).quantize(16))
    scan = path.with_suffix(".tif")
    sheets[0].save(scan, save_all=True, append_images=sheets[1:], compression="tiff_adobe_deflate", dpi=(150, 150))
    path.unlink()
    return scan


def main() -> int:
    parser = argparse.ArgumentParser(description="Score the reading of a few small documents.")
    parser.add_argument("--make", action="store_true", help="make the documents anew instead")
    if parser.parse_args().make:
        make(FOLDER)
        return 0
    print(*table(measure()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
