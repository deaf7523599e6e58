"""A reading as Markdown, from the elements themselves, so that a file with text of its own is written at once.

Text stays itself: what Markdown would take for markup is escaped, and nothing else is. A table whose cells span is an
HTML table, since pipes would repeat them. Text inside pictures is kept under them, links stand on the words they are
on, captions on the side of their table or picture where the page has them, and running heads and feet are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from warmwire.documents.input.links import add_links
from warmwire.documents.output.flow import FURNITURE, Item, Listing, clean, flow, is_tex, pictures
from warmwire.documents.output.html import html_table
from warmwire.documents.reading.record import Reading
from warmwire.layout.page import Cell, Kind, Table

_INLINE: Final = re.compile(
    r"""\\(?=[!-/:-@\[-`{-~])   # a backslash that would escape
    |[*`]
    |(?<!\w)_|_(?!\w)           # emphasis; inside a word it is none
    |<(?=[A-Za-z/!?])           # HTML
    |&(?=\#?\w+;)               # an entity
    |\](?=\()                   # a link
    |~(?=~)""",
    re.VERBOSE,
)
_BLOCK: Final = re.compile(r"^(\s*)(?:([#>+-])(?=\s|$|[#>])|(\d{1,9})([.)])(?=\s|$))", re.MULTILINE)
"""What would start a heading, a quote or a list at the start of a line."""

_BREAK: Final = re.compile(r"(?<!\n)\n(?!\n)")
"""A line's end within a paragraph."""

_MARK: Final = re.compile(r"[-*+]|\d+\.")
"""Marks of list items that Markdown knows."""

_BOXES: Final = str.maketrans({"☐": "[ ]", "☑": "[x]", "☒": "[x]"})
_INDENT: Final = "    "
_DEEPEST: Final = 6


def to_markdown(reading: Reading, figures: Sequence[tuple[str, str]] = ()) -> str:
    """A reading as Markdown. `figures` has a link ("" for none) and a caption for each picture, in order."""
    return MarkdownWriter().write(reading, figures)


def escape(text: str) -> str:
    """`text` so that Markdown shows it as it is, inside a line; boxes to tick are those of its lists."""
    return _INLINE.sub(lambda match: "\\" + match[0], text).translate(_BOXES)


def escape_block(text: str) -> str:
    """The same for what Markdown reads at the start of a paragraph's lines; inline markup must be escaped already."""
    return _BLOCK.sub(lambda m: f"{m[1]}\\{m[2]}" if m[2] else f"{m[1]}{m[3]}\\{m[4]}", text)


class MarkdownWriter:
    """Writes block after block. What is markup has a method of its own, so that another writer can leave it out."""

    def __init__(self) -> None:
        self._figures: dict[int, tuple[str, str]] = {}
        """Links and captions of pictures that have a file, by the items' identities."""

    def write(self, reading: Reading, figures: Sequence[tuple[str, str]] = ()) -> str:
        blocks = flow(reading)
        shown = list(pictures(blocks))
        if len(shown) == len(figures):
            self._figures = {id(item): figure for item, figure in zip(shown, figures, strict=True) if figure[0]}
        parts: list[str] = []
        above: Item | Listing | None = None
        for block in blocks:
            for text in filter(None, self._block(block)):
                if _is_box(block) and _is_box(above):
                    parts[-1] += f"\n{_INDENT * _depth(block)}{text}"  # boxes to tick are one list
                else:
                    parts.append(_INDENT * _depth(block) * isinstance(above, Listing) + text)
                above = block
        return "\n\n".join(parts)

    def _block(self, block: Item | Listing) -> Iterator[str]:
        if isinstance(block, Listing):
            yield "\n".join(self._items(block, ""))
            return
        match block.kind:
            case kind if kind in FURNITURE:
                pass
            case Kind.TITLE:
                yield self.heading(block, 1)
            case Kind.HEADING:
                yield self.heading(block, min(max(block.element.level, 1) + 1, _DEEPEST))
            case Kind.TABLE:
                yield from self._captioned(block, self._table(block))
            case Kind.PICTURE:
                yield from self._captioned(block, self.picture(block))
                yield self.paragraph(block)
            case Kind.CODE:
                yield self.code(block.text)
            case Kind.FORMULA if is_tex(block.text):
                yield f"$${block.text}$$"
            case Kind.CHECKED | Kind.UNCHECKED:
                box = "[x]" if block.kind is Kind.CHECKED else "[ ]"
                yield f"- {box} {self.words(block.text, block.links)}"
            case _:
                yield self.paragraph(block)

    def _items(self, listing: Listing, indent: str) -> Iterator[str]:
        """The lines of a list. A mark that Markdown does not know follows a dash; a bullet says no more than that."""
        for item in listing.items:
            marks = [item.marker] if _MARK.fullmatch(item.marker) else ["-"]
            if marks == ["-"] and any(char.isalnum() for char in item.marker):
                marks.append(item.marker)
            yield indent + " ".join([*marks, self.words(item.text, item.links)])
            for inner in item.lists:
                yield from self._items(inner, indent + _INDENT)

    def _captioned(self, item: Item, shown: str) -> tuple[str, ...]:
        """A table or a picture with its caption on the side where the page has it."""
        caption = self.words(item.caption.text, item.caption.links) if item.caption is not None else ""
        return (shown, caption) if item.is_captioned_below else (caption, shown)

    def _table(self, item: Item) -> str:
        table = item.element.table
        return self.table(table) if table is not None and table.rows and table.columns else ""

    def words(self, text: str, links: Sequence[tuple[str, str]]) -> str:
        """Text within a line."""
        return add_links(escape(_BREAK.sub("  \n", text)), links)

    def paragraph(self, item: Item) -> str:
        return add_links(escape_block(escape(_BREAK.sub("  \n", item.text))), item.links)

    def heading(self, item: Item, level: int) -> str:
        words = self.words(item.text.replace("\n", " "), item.links)
        return f"{'#' * level} {words}"

    def code(self, text: str) -> str:
        """A block between marks longer than any that the code has."""
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        return f"{fence}\n{text}\n{fence}"

    def picture(self, item: Item) -> str:
        """A picture's file, or where it stands: no text can look like that, since its < would be escaped."""
        found = self._figures.get(id(item))
        if found is None:
            alt = re.sub(r"--+|>", " ", clean(item.element.alt))  # what would end the comment
            return f"<!-- image: {alt} -->" if alt.strip() else "<!-- image -->"
        words = escape(" ".join(found[1].split())).replace("[", r"\[").replace("]", r"\]")
        return f"![{words}]({found[0]})"

    def table(self, table: Table) -> str:
        """Pipes, or HTML where cells span."""
        if any(cell.rowspan > 1 or cell.colspan > 1 for cell in table.cells):
            return html_table(table)
        rows = [[""] * table.columns for _ in range(table.rows)]
        for cell in table.cells:
            rows[cell.row][cell.column] = add_links(escape(_cell_text(cell)), cell.links).replace("|", "\\|")
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|" + " --- |" * table.columns)
        return "\n".join(lines)


def _is_box(block: Item | Listing | None) -> bool:
    return isinstance(block, Item) and block.kind in (Kind.CHECKED, Kind.UNCHECKED)


def _depth(block: Item | Listing) -> int:
    """How deep a box to tick stands inside of lists."""
    return min(max(block.element.level - 1, 0), _DEEPEST) if isinstance(block, Item) and _is_box(block) else 0


def grid_rows(table: Table) -> list[list[str]]:
    """The text at each place of the grid; a cell's text stands at its first place only."""
    rows = [[""] * table.columns for _ in range(table.rows)]
    for cell in table.cells:
        rows[cell.row][cell.column] = _cell_text(cell)
    return rows


def _cell_text(cell: Cell) -> str:
    return " ".join(clean(cell.text).split())
