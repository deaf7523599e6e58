"""A reading in the formats people ask for.

All are written from the elements but JSON, which is docling-core's document.
"""

from __future__ import annotations

from collections.abc import Sequence

from warmwire.documents.output.document import document_json
from warmwire.documents.output.formats import Format
from warmwire.documents.output.html import to_html
from warmwire.documents.output.markdown import to_markdown
from warmwire.documents.output.text import to_text
from warmwire.documents.reading.record import Reading
from warmwire.layout.doctags.writer import write_elements


def export(reading: Reading, form: Format, figures: Sequence[tuple[str, str]] = ()) -> str:
    """The whole reading as text that ends with a newline, or "" where there is nothing at all to say.

    Markdown, HTML and text leave running heads and feet out; JSON and DocTags have everything. JSON is a
    DoclingDocument with the page records beside it, under "warmwire". `figures` has a link ("" for none) and a caption
    for each picture, in order; Markdown and HTML show them.
    """
    match form:
        case Format.DOCTAGS:
            text = _doctags(reading)
        case Format.JSON:
            text = _json(reading)
        case Format.HTML:
            text = to_html(reading, figures)
        case Format.MD:
            text = to_markdown(reading, figures)
        case Format.TEXT:
            text = to_text(reading)
    return text.rstrip("\n") + "\n" if text.strip() else ""


def _doctags(reading: Reading) -> str:
    """Our own writer: it keeps printed numbers, and text that looks like a tag."""
    pages = (write_elements(page.elements, page.width, page.height) for page in reading.pages)
    return "<doctag>\n" + "<page_break>\n".join(pages) + "</doctag>"


def _json(reading: Reading) -> str:
    records = {"source": reading.name, "pages": [page.record.as_dict() for page in reading.pages]}
    return "".join(document_json(reading, {"warmwire": records}))
