"""A reading as one page to look at: each sheet beside its text, offline, for whoever checks what was read.

Blocks are outlined on the picture with their kind and confidence, and linked with their text both ways; words of lines
that the model was not sure of are underlined. Pictures are carried as text until they come near the window, so that
hundreds of pages open at once. Nothing is fetched, which the page's own policy forbids as well: what a document says
is text here, whatever it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby
from pathlib import PurePath
from string import Template
from typing import Final

from warmwire.documents.input.source import Source
from warmwire.documents.output.cut import small_jpeg
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.record import Reading, ReadPage, Status
from warmwire.layout.page import Box, Element, Kind, Table

UNSURE: Final = 0.9
"""Lines of a lower confidence are marked; cleanly printed ones have 0.97 and more."""

_DPI: Final = 110.0
_QUALITY: Final = 72  # of a sheet's JPEG
_LONG_SIDE: Final = 1600
"""Pixels along the longer side of a sheet's picture at most."""

_TAGS: Final = {Kind.TITLE: "h1", Kind.CODE: "pre", Kind.TABLE: "div", Kind.PICTURE: "figure", Kind.LIST_ITEM: "div"}
_GROUPS: Final = {
    Kind.HEADING: "heading",
    Kind.TABLE: "table",
    Kind.PAGE_HEADER: "furniture",
    Kind.PAGE_FOOTER: "furniture",
}


def viewer(reading: Reading, source: Source) -> bytes:
    """The whole page."""
    return b"".join(part.encode(errors="replace") for part in _parts(reading, source))


def _parts(reading: Reading, source: Source) -> Iterator[str]:
    """The whole page, sheet after sheet: a picture each, so that nothing of them should be in memory twice."""
    template = (files("warmwire.documents.output") / "viewer.html").read_text(encoding="utf-8")
    values = {"title": escape(PurePath(reading.name).name), "markdown": escape(export(reading, Format.MD))}
    before, after = (Template(half).substitute(values) for half in template.split("$pages"))
    yield before
    for page in reading.pages:
        yield _page(source, page) + "\n"
    yield after


def _page(source: Source, page: ReadPage) -> str:
    record = page.record
    ids = [f"{record.page}-{index}" for index in range(len(page.elements))]
    boxes = "".join(_outline(i, e, page) for i, e in zip(ids, page.elements, strict=True) if e.box is not None)
    texts = "\n".join(_text(i, e, _unsure_lines(e, page)) for i, e in zip(ids, page.elements, strict=True))
    sure = "" if record.confidence is None else f", confidence {record.confidence:.2f}"
    about = f"Page {record.page}, read by the {record.route}{sure}"
    picture = small_jpeg(source, page, _DPI, _LONG_SIDE, _QUALITY)  # text, in a script that is none, until it is near
    bad = record.status is not Status.OK
    if bad:
        about += f": {record.status}. {record.error}"
    return (
        f'<section id="page-{record.page}"><p class="about{" bad" if bad else ""}">{escape(about)}</p>\n'
        f'<div class="sheet" style="aspect-ratio: {page.width:.1f} / {page.height:.1f}">'
        f'<img alt="Page {record.page}"><script type="text/plain">{picture}</script>{boxes}</div>\n'
        f'<div class="text">\n{texts}\n</div></section>'
    )


def _outline(id: str, element: Element, page: ReadPage) -> str:
    box = element.box or Box(0.0, 0.0, 0.0, 0.0)
    left, top = 100 * box.left / page.width, 100 * box.top / page.height
    width, height = 100 * box.width / page.width, 100 * box.height / page.height
    says = element.kind.name.lower().replace("_", " ")
    if element.confidence is not None:
        says += f" {element.confidence:.2f}"
    place = f"left:{left:.2f}%;top:{top:.2f}%;width:{width:.2f}%;height:{height:.2f}%"
    return f'<div class="box" data-id="{id}" data-kind="{_group(element)}" data-says="{says}" style="{place}"></div>'


def _group(element: Element) -> str:
    return _GROUPS.get(element.kind, element.kind.value)


def _text(id: str, element: Element, unsure: Sequence[Sequence[str]]) -> str:
    tag = f"h{min(element.level + 1, 6)}" if element.kind is Kind.HEADING else _TAGS.get(element.kind, "p")
    style = {Kind.LIST_ITEM: "item", Kind.CAPTION: "caption"}.get(element.kind, _group(element))
    inner = marked(element.text, unsure)
    if element.kind is Kind.LIST_ITEM:
        inner = f"<span>{escape(element.marker or '•')}</span><span>{inner}</span>"
        style += f'" style="margin-left: {1.5 * (element.level - 1):g}rem'
    if element.table is not None:
        inner = _table(element.table, unsure)
    if element.kind is Kind.PICTURE and not element.text:
        inner = "<em>a figure</em>"
    return f'<{tag} data-id="{id}" class="is-{style}">{inner}</{tag}>'


def _table(table: Table, unsure: Sequence[Sequence[str]]) -> str:
    rows: list[list[str]] = [[] for _ in range(table.rows)]
    for cell in sorted(table.cells, key=lambda cell: cell.column):
        tag = "th" if cell.header else "td"
        spans = f' rowspan="{cell.rowspan}"' if cell.rowspan > 1 else ""
        spans += f' colspan="{cell.colspan}"' if cell.colspan > 1 else ""
        rows[cell.row].append(f"<{tag}{spans}>{marked(cell.text, unsure)}</{tag}>")
    return "<table>" + "".join(f"<tr>{''.join(row)}</tr>" for row in rows) + "</table>"


def marked(text: str, unsure: Sequence[Sequence[str]]) -> str:
    """Text for HTML, with the words of the `unsure` lines underlined where they follow each other as on the line.

    A line's first and last word may have been joined with a neighbour's, so they count where the rest is found.
    """
    words = text.split(" ")
    low = [False] * len(words)
    for line in unsure:
        cores = [list(line), list(line[:-1]), list(line[1:]), list(line[1:-1])]
        for core in (core for core in cores if len(core) > 1 or core == words):
            at = next((k for k in range(len(words) - len(core) + 1) if words[k : k + len(core)] == core), None)
            if at is not None:
                low[at : at + len(core)] = [True] * len(core)
                break
    parts = []
    for is_low, group in groupby(zip(words, low, strict=True), key=lambda pair: pair[1]):
        shown = escape(" ".join(word for word, _ in group))
        parts.append(f"<mark>{shown}</mark>" if is_low else shown)
    return " ".join(parts)


def _unsure_lines(element: Element, page: ReadPage) -> list[list[str]]:
    """The words of the lines in an element that were read with little confidence."""
    box = element.box
    if box is None:
        return []
    low = (run for run in page.runs if run.confidence < UNSURE)
    return [
        run.words for run in low if box.left <= run.middle[0] <= box.right and box.top <= run.middle[1] <= box.bottom
    ]
