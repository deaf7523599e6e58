"""Targets: what comes in files, in forms, on the command line and from models."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers

from tests.fuzz.target import Outcome, Target, Wrong, outcome
from warmwire.bridge.bodies import ChatBody, RerankBody, TextBody, read
from warmwire.bridge.convert import chat_request, text_request
from warmwire.bridge.fleet.config import read_settings
from warmwire.bridge.forms import read_form
from warmwire.documents.input.drop import DropFolder
from warmwire.documents.input.open import open_bytes
from warmwire.documents.input.urls import data_of, file_path
from warmwire.documents.reading.journal import Journal
from warmwire.documents.reading.selection import select_pages
from warmwire.layout.doctags.writer import parse
from warmwire.layout.page import Box, Line
from warmwire.layout.structure import structure
from warmwire.markov import Generation, load
from warmwire.models.llama.header import read_header
from warmwire.models.llama.options import parse_gguf_name
from warmwire.system.records import pack

DATA = Path(__file__).parent.parent / "data"

MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
"""Where files are written that are to be on the disk before the next step: in memory, where there is such a place."""

DOCTAGS = (
    "<doctag><title><loc_1><loc_2><loc_3><loc_4>A title</title><section_header_level_2>Part</section_header_level_2>"
    "<ordered_list><list_item>1. one</list_item><list_item><unordered_list><list_item>in</list_item></unordered_list>"
    "</list_item></ordered_list><otsl><loc_5><loc_6><loc_70><loc_80><ched>a<ched>b<nl><fcel>1<lcel><nl><ucel><fcel>2<nl>"
    "<caption>Cap</caption></otsl><picture><loc_9><loc_9><loc_99><loc_99><caption>é</caption></picture><text>a < b & c"
    "</text><code><_python_>x = 1</code><formula>x^2</formula><checkbox_selected>yes</checkbox_selected></doctag>"
)


def read_doctags(parts: Iterator[bytes]) -> Outcome:
    return list(parse(b"".join(parts).decode("utf-8", "replace"))), "end"


def read_model(parts: Iterator[bytes]) -> Outcome:
    data = b"".join(parts)

    def run(got: list[Any]) -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            chain = load(file.name)
        for prepared in (False, True):
            if prepared:
                chain.prepare()
            got.append(bytes(Generation(chain, b"ab", rng_seed=1).take(200)))
        if got[0] != got[1]:
            raise Wrong("the graph changes the text")

    got, ended = outcome(run)
    return got, ended.replace(tempfile.gettempdir(), "").partition(": ")[0]


def read_pages(parts: Iterator[bytes]) -> Outcome:
    """Bytes as a page, ten to a line, a rule or a figure: places on a grid, sizes, words."""
    data = b"".join(parts)
    lines, rules, figures = [], [], []
    words = ("word", "2.", "12.50", "–", "Total", "some words that run on over the column", "a)", "*", "Yes")
    for at in range(0, len(data) - 9, 10):
        what, x, y, width, height, text, size, bold, mono, angle = data[at : at + 10]
        box = Box(x * 3.0, y * 4.0, x * 3.0 + width - 5, y * 4.0 + (12.0 if height < 200 else height - 210.0))
        if what < 40:
            rules.append(Box(box.left, box.top, box.right, box.top + 1) if what % 2 else Box(x, y, x + 1, y + height))
        elif what < 50:
            figures.append(box)
        else:
            turn = 0.0 if angle < 250 else angle - 160.0
            lines.append(
                Line(
                    box,
                    words[text % len(words)],
                    1.0,
                    float(size % 16),
                    bold > 200,
                    True if mono > 250 else None,
                    angle=turn,
                )
            )
    skipped: list[str] = []
    found = structure(lines, 800, 1000, figures=figures, rules=rules, skipped=skipped)
    texts = [text for element in found for text in (element.text, element.marker)]
    texts += [cell.text for element in found if element.table for cell in element.table.cells]
    if skipped or sorted(" ".join(texts).split()) != sorted(" ".join(line.text for line in lines).split()):
        raise Wrong(f"skipped {skipped}, words {sorted(' '.join(texts).split())}")
    return [(element.kind, element.text) for element in found], "end"


# ---------------------------------------------------------------------- files


def read_pdf(parts: Iterator[bytes]) -> Outcome:
    """A PDF's own text, outline and structure; at most three pages."""
    data = b"".join(parts)

    def run(got: list[Any]) -> None:
        source = open_bytes("x.pdf", data)
        try:
            got.append([mark.title for mark in source.outline()])
            pages = range(min(3, len(source)))
            got.extend(outcome(lambda said, at=at: said.extend(_structured(source.page(at))))[0] for at in pages)
        finally:
            source.close()

    return (outcome(run)) if b"%PDF-" in data[:1024] else ([], "end")


def _structured(page: Any) -> list[Any]:
    try:
        text = page.text()
        skipped: list[str] = []
        found = structure(text.lines, *page.size, figures=text.figures, rules=text.rules, skipped=skipped)
        if skipped:
            raise Wrong(f"skipped {skipped}")
        return [(element.kind, element.text) for element in found]
    finally:
        page.close()


def read_gguf(parts: Iterator[bytes]) -> Outcome:
    def run(got: list[Any]) -> None:
        file = os.memfd_create("x.gguf")
        try:
            os.write(file, b"".join(parts))
            header = read_header(Path(f"/proc/self/fd/{file}"))
            got.append([header.architecture, header.name[:50], header.context, header.embeds, header.template[:50]])
        finally:
            os.close(file)

    got, ended = outcome(run)
    return got, ended.partition(": ")[0]  # the rest names the descriptor


def read_toml(parts: Iterator[bytes]) -> Outcome:
    text = b"".join(parts).decode("utf-8", "replace")
    return outcome(lambda got: got.append(read_settings(text, Path("/x/models.toml"))))


@contextmanager
def recorded(parts: Iterator[bytes]) -> Iterator[Path]:
    """A file in a folder of its own: lines as they are and, since few have a checksum, as records with theirs."""
    data = b"".join(parts)
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        path = Path(place) / "records"
        path.write_bytes(data + b"\n" + b"".join(map(pack, data.splitlines())))
        yield path


def read_journal(parts: Iterator[bytes]) -> Outcome:
    def run(got: list[Any]) -> None:
        with recorded(parts) as path:
            journal = Journal(path, "m")
            got.extend(len(journal.find(key) or ()) for key in ("k1", "k2", ""))
            journal.keep("d", "k3", [], whole=True)
            journal.finish("d")
            got.append([journal.waits_for(name) for name in ("d", "x.pdf")])
            journal.close(complete=True)
            got.append(path.exists())

    return outcome(run)


def read_ledger(parts: Iterator[bytes]) -> Outcome:
    """What a watched folder remembers."""

    def run(got: list[Any]) -> None:
        with recorded(parts) as path:
            got.append(len(DropFolder(path.parent, path).ready()))

    return outcome(run)


# ---------------------------------------------------------------------- forms, bodies and words


def read_forms(parts: Iterator[bytes]) -> Outcome:
    """The first line is the Content-Type, the rest the body."""
    kind, _, body = b"".join(parts).partition(b"\n")

    def run(got: list[Any]) -> None:
        reading = read_form(Headers({"content-type": kind.decode("latin-1")}), body)
        try:
            reading.send(None)
        except StopIteration as ended:
            got.append((ended.value.files, ended.value.fields))
        else:
            raise Wrong("a form that is all there is waited for")

    return outcome(run)


def read_bodies(parts: Iterator[bytes]) -> Outcome:
    body = b"".join(parts)

    def run(got: list[Any]) -> None:
        for kind, convert in ((ChatBody, chat_request), (TextBody, text_request), (RerankBody, repr)):
            got.append(outcome(lambda said, k=kind, c=convert: said.append(type(c(read(body, k)))))[1])

    return outcome(run)


def read_words(parts: Iterator[bytes]) -> Outcome:
    """Lines as selections of pages, names of models and URLs."""
    text = b"".join(parts).decode("utf-8", "replace")

    def run(got: list[Any]) -> None:
        takers = (lambda word: select_pages(word, 30), parse_gguf_name, data_of, file_path)
        for line in text.splitlines():
            got.extend(outcome(lambda said, t=take, w=line: said.append(t(w))) for take in takers)

    return outcome(run)


PDFS = ("digital", "columns", "tagged", "links", "form", "layers", "ligatures", "watermark")

CHAT_BODY = (
    b'{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"t"},'
    b'{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}],"tools":[{"type":"function","function":'
    b'{"name":"f","parameters":{}}}],"stream":true,"stop":["x"],"temperature":0.5,"max_tokens":3}'
)

TARGETS = {
    "doctags": Target([DOCTAGS.encode()], read_doctags, ("layout.doctags",)),
    "pages": Target(
        [random.Random(1).randbytes(900), bytes([60, 9, 9, 99, 9, 5, 10, 0, 0, 0] * 9)],
        read_pages,
        ("layout.structure", "layout.blocks", "layout.order", "layout.tables", "layout.rows", "layout.runs"),
    ),
    "models": Target(
        [path.read_bytes() for path in sorted((DATA / "grall").glob("[!e]*.gril"))],
        read_model,
        ("markov.storage", "markov.chain", "markov.generation"),
    ),
    "pdf": Target(
        [(DATA / "documents" / f"{name}.pdf").read_bytes() for name in PDFS], read_pdf, ("documents.input.pdf",)
    ),
    "gguf": Target([], read_gguf, ("models.llama.header",)),
    "toml": Target([], read_toml, ("bridge.fleet.config",)),
    "journal": Target([], read_journal, ("documents.reading.journal", "system.records")),
    "ledger": Target([], read_ledger, ("documents.input.drop", "system.records")),
    "forms": Target([], read_forms, ("bridge.forms",)),
    "bodies": Target([CHAT_BODY], read_bodies, ("bridge.bodies", "bridge.convert", "bridge.media")),
    "words": Target(
        [], read_words, ("documents.reading.selection", "models.names", "models.llama.options", "documents.input.urls")
    ),
}
