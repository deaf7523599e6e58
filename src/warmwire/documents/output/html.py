"""A reading as a web page, from the same flow as its Markdown: a file of its own that fetches nothing but its figures.

What a document says is text here: it is escaped, and becomes neither markup nor script. Lists keep the marks that are
printed before their items. Formulas in TeX become MathML, which browsers show and screen readers read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import PurePath
from typing import Final

from warmwire.documents.input.links import add_html_links
from warmwire.documents.output.flow import FURNITURE, Item, Listing, clean, flow, is_tex, pictures
from warmwire.documents.reading.record import Reading
from warmwire.layout.page import Kind, Table

_DEEPEST: Final = 6
_BULLETS: Final = "-*+•·◦▪■●–—"
_NUMBER: Final = re.compile(r"(\d{1,9})\.")
"""What a browser puts before the items of a list by itself."""

_STYLE: Final = """\
body { max-width: 48rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { border: 1px solid #bbb; padding: .3rem .6rem; text-align: left; vertical-align: top }
th { background: #f2f2f2 }
caption.below { caption-side: bottom }
figure { margin: 1rem 0 }
img { max-width: 100% }
pre { background: #f6f6f6; padding: .8rem; overflow-x: auto }
.note, figcaption, caption { font-size: .9rem; color: #555; text-align: left }
"""


def to_html(reading: Reading, figures: Sequence[tuple[str, str]] = ()) -> str:
    """A reading as HTML, without running heads and feet; "" where there is nothing to show.

    `figures` has a link ("" for none) and a caption for each picture, in order.
    """
    blocks = flow(reading)
    body = "\n".join(_Writer(blocks, figures).write())
    if not body:
        return ""
    title = escape(clean(PurePath(reading.name).stem))
    return (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n<style>\n{_STYLE}</style>\n'
        f"</head>\n<body>\n{body}\n</body>\n</html>"
    )


def html_table(table: Table, caption: str = "") -> str:
    """A table without blank lines, which would end it in Markdown; `caption` is markup."""
    rows: list[list[str]] = [[] for _ in range(table.rows)]
    for cell in sorted(table.cells, key=lambda cell: cell.column):
        tag = "th" if cell.header else "td"
        spans = f' rowspan="{cell.rowspan}"' if cell.rowspan > 1 else ""
        spans += f' colspan="{cell.colspan}"' if cell.colspan > 1 else ""
        text = add_html_links(escape(" ".join(clean(cell.text).split()), quote=False), cell.links)
        rows[cell.row].append(f"<{tag}{spans}>{text}</{tag}>")
    lines = [*filter(None, [caption]), *(f"<tr>{''.join(row)}</tr>" for row in rows)]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


class _Writer:
    def __init__(self, blocks: list[Item | Listing], figures: Sequence[tuple[str, str]]) -> None:
        self._blocks = blocks
        self._figures: dict[int, tuple[str, str]] = {}
        """Links and captions of pictures that have a file, by the items' identities."""
        shown = list(pictures(blocks))
        if len(shown) == len(figures):
            self._figures = {id(item): figure for item, figure in zip(shown, figures, strict=True) if figure[0]}

    def write(self) -> Iterator[str]:
        for block in self._blocks:
            if isinstance(block, Listing):
                yield self._list(block)
            elif block.kind not in FURNITURE:
                yield self._item(block)

    def _item(self, item: Item) -> str:
        words = _words(item)
        match item.kind:
            case Kind.TITLE:
                return f"<h1>{words}</h1>"
            case Kind.HEADING:
                level = min(max(item.element.level, 1) + 1, _DEEPEST)
                return f"<h{level}>{words}</h{level}>"
            case Kind.TABLE:
                below = ' class="below"' if item.is_captioned_below else ""
                caption = f"<caption{below}>{_words(item.caption)}</caption>" if item.caption is not None else ""
                return html_table(item.element.table or Table(0, 0), caption)
            case Kind.PICTURE:
                return self._figure(item, words)
            case Kind.CODE:
                return f"<pre><code>{escape(item.text)}</code></pre>"
            case Kind.FORMULA if is_tex(item.text):
                return _formula(item.text)
            case Kind.CHECKED | Kind.UNCHECKED:
                checked = " checked" if item.kind is Kind.CHECKED else ""
                return f'<p><input type="checkbox" disabled{checked}> {words}</p>'
            case Kind.FOOTNOTE | Kind.CAPTION:
                return f'<p class="note">{words}</p>'
            case _:
                return f"<p>{words}</p>"

    def _figure(self, item: Item, words: str) -> str:
        """A picture, its file if it has one, with what is written in it."""
        link, said = self._figures.get(id(item), ("", clean(item.element.alt)))
        image = f'<img src="{escape(link)}" alt="{escape(said)}">' if link else ""
        label = f' role="img" aria-label="{escape(said)}"' if said and not link else ""
        caption = f"<figcaption>{_words(item.caption)}</figcaption>" if item.caption is not None else ""
        inside = f"<p>{words}</p>" if words else ""
        parts = (image, inside, caption) if item.is_captioned_below else (caption, image, inside)
        return f"<figure{label}>{''.join(parts)}</figure>"

    def _list(self, listing: Listing) -> str:
        tag = "ol" if listing.ordered else "ul"
        items = (
            f"<li{_mark(item.marker)}>{_words(item)}{''.join(map(self._list, item.lists))}</li>"
            for item in listing.items
        )
        return f"<{tag}>\n" + "\n".join(items) + f"\n</{tag}>"


def _words(item: Item) -> str:
    """A text with its links; a line's end within it stays one."""
    return add_html_links(escape(item.text, quote=False), item.links).replace("\n", "<br>")


def _mark(marker: str) -> str:
    """The attribute that puts the printed mark before an item, "" where a browser's own says the same."""
    if match := _NUMBER.fullmatch(marker):
        return f' value="{match[1]}"'
    if not marker.strip(_BULLETS):
        return ""
    words = re.sub(r"[\\']", lambda found: f"\\{found[0]}", " ".join(marker.split()))
    return f""" style="list-style-type: '{escape(words)} '\""""


def _formula(tex: str) -> str:
    try:
        from latex2mathml.converter import convert

        return f"<p>{convert(tex, display='block')}</p>"
    except Exception:  # whatever it does not know of TeX; without the package nothing is known
        return f"<pre><code>{escape(tex)}</code></pre>"
