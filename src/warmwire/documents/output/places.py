"""hOCR and ALTO: what libraries of old prints keep of a page, every word with its place.

Both count in pixels. A picture has its own; a page of a PDF is measured at 300 dots per inch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Final
from xml.sax.saxutils import quoteattr

from warmwire.documents.output.shares import lines_by_element
from warmwire.documents.reading.record import Reading, ReadPage
from warmwire.layout.page import Box
from warmwire.layout.runs import Run

_DPI: Final = 300
_POINTS: Final = 72
_NO_XML: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class _Line:
    words: list[_Word]
    box: Box
    confidence: float


def hocr(reading: Reading, *, is_pdf: bool) -> str:
    """The reading as hOCR, an XHTML file."""
    scale = _DPI / _POINTS if is_pdf else 1.0
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" '
        '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">',
        '<html xmlns="http://www.w3.org/1999/xhtml"><head>',
        f"<title>{_clean(reading.name)}</title>",
        '<meta http-equiv="Content-Type" content="text/html;charset=utf-8" />',
        '<meta name="ocr-system" content="warmwire" />',
        '<meta name="ocr-capabilities" content="ocr_page ocr_carea ocr_par ocr_line ocrx_word" />',
        "</head><body>",
    ]
    for page in reading.pages:
        number = page.record.page
        whole = _pixels(Box(0.0, 0.0, page.width, page.height), scale)
        resolution = f"; scan_res {_DPI} {_DPI}" if is_pdf else ""
        title = quoteattr(f"image {_quoted(reading.name)}; {whole}; ppageno {number - 1}{resolution}")
        lines.append(f'<div class="ocr_page" id="page_{number}" title={title}>')
        for at, block in enumerate(_blocks(page), 1):
            box = _pixels(_around([line.box for line in block]), scale)
            lines.append(f'<div class="ocr_carea" id="block_{number}_{at}" title="{box}">')
            lines.append(f'<p class="ocr_par" title="{box}">')
            for line in block:
                sure = f"; x_wconf {round(100 * line.confidence)}"
                words = (
                    f'<span class="ocrx_word" title="{_pixels(word.box, scale)}{sure}">{_clean(word.text)}</span>'
                    for word in line.words
                )
                lines.append(f'<span class="ocr_line" title="{_pixels(line.box, scale)}">{" ".join(words)}</span>')
            lines.append("</p></div>")
        lines.append("</div>")
    return "\n".join([*lines, "</body></html>\n"])


def alto(reading: Reading, *, is_pdf: bool) -> str:
    """The reading as ALTO 4, an XML file of all pages."""
    scale = _DPI / _POINTS if is_pdf else 1.0
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#">',
        "<Description><MeasurementUnit>pixel</MeasurementUnit>",
        f"<sourceImageInformation><fileName>{_clean(reading.name)}</fileName></sourceImageInformation>",
        '<Processing ID="p"><processingSoftware>',
        "<softwareName>warmwire</softwareName></processingSoftware></Processing>",
        "</Description><Layout>",
    ]
    for page in reading.pages:
        number = page.record.page
        size = f'WIDTH="{round(page.width * scale)}" HEIGHT="{round(page.height * scale)}"'
        lines.append(f'<Page ID="page_{number}" PHYSICAL_IMG_NR="{number}" {size}>')
        lines.append(f'<PrintSpace HPOS="0" VPOS="0" {size}>')
        for at, block in enumerate(_blocks(page), 1):
            lines.append(f'<TextBlock ID="block_{number}_{at}" {_placed(_around([x.box for x in block]), scale)}>')
            for line in block:
                words = (
                    f"<String CONTENT={quoteattr(_plain(word.text))} {_placed(word.box, scale)} "
                    f'WC="{line.confidence:.2f}"/>'
                    for word in line.words
                )
                lines.append(f"<TextLine {_placed(line.box, scale)}>{'<SP/>'.join(words)}</TextLine>")
            lines.append("</TextBlock>")
        lines.append("</PrintSpace></Page>")
    return "\n".join([*lines, "</Layout></alto>\n"])


def _blocks(page: ReadPage) -> Iterator[list[_Line]]:
    """The page's lines in reading order, those of one element together."""
    for _, runs in lines_by_element(page):
        if block := [_line(run) for run in runs if run.words]:
            yield block


def _line(run: Run) -> _Line:
    words = [_Word(text, box) for text, box in zip(run.words, _word_boxes(run), strict=False)]
    return _Line(words, _around([word.box for word in words]), run.confidence)


def _word_boxes(run: Run) -> Iterator[Box]:
    for start, end in run.spans:
        corners = [
            (
                run.corner[0] + part * run.along[0] + down * run.across[0],
                run.corner[1] + part * run.along[1] + down * run.across[1],
            )
            for part in (start, end)
            for down in (0, 1)
        ]
        xs, ys = zip(*corners, strict=True)
        yield Box(min(xs), min(ys), max(xs), max(ys))


def _around(boxes: list[Box]) -> Box:
    return Box(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


def _pixels(box: Box, scale: float) -> str:
    return "bbox " + " ".join(str(max(0, round(v * scale))) for v in (box.left, box.top, box.right, box.bottom))


def _placed(box: Box, scale: float) -> str:
    left, top = max(0, round(box.left * scale)), max(0, round(box.top * scale))
    right, bottom = max(left, round(box.right * scale)), max(top, round(box.bottom * scale))
    return f'HPOS="{left}" VPOS="{top}" WIDTH="{right - left}" HEIGHT="{bottom - top}"'


def _plain(text: str) -> str:
    """What XML can hold."""
    return _NO_XML.sub("", text)


def _clean(text: str) -> str:
    return escape(_plain(text))


def _quoted(name: str) -> str:
    return '"' + _plain(name).replace('"', "'") + '"'
