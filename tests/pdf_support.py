"""What pdfium finds in a PDF that was written."""

from __future__ import annotations

from collections import defaultdict

import pypdfium2
import pypdfium2.raw as pdfium

from warmwire.documents.input.pdf.tree import Node, read_tree


def outline(data: bytes, number: int = 0) -> list[str]:
    """The tree of a page, a line an element: its depth as dots, its type, its words."""
    pdf = pypdfium2.PdfDocument(data)
    opened = pdf[number]
    text = opened.get_textpage()
    words: dict[int, str] = defaultdict(str)
    for at in range(text.count_chars()):
        mark = pdfium.FPDFPageObj_GetMarkedContentID(pdfium.FPDFText_GetTextObject(text.raw, at))
        words[mark] += chr(pdfium.FPDFText_GetUnicode(text.raw, at)).replace("\x02", "-")

    def lines(node: Node, depth: int) -> list[str]:
        own = " ".join("".join(words[kid] for kid in node.kids if isinstance(kid, int)).split())
        spans = f" {node.rowspan}x{node.colspan}" if node.rowspan > 1 or node.colspan > 1 else ""
        said = f" [{node.alt}]" if node.alt else ""
        inner = [kid for kid in node.kids if not isinstance(kid, int)]
        under = [found for kid in inner for found in (lines(kid, depth + 1) if kid else [f"{'.' * depth}.empty"])]
        return [f"{'.' * depth}{node.kind}{spans}{said} {own}".rstrip(), *under]

    tree = read_tree(opened.raw)
    assert tree is not None
    (document,) = tree.kids
    assert isinstance(document, Node)
    found = lines(document, 0)
    text.close()
    opened.close()
    pdf.close()
    return found
