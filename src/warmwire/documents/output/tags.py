"""The structure tree of a searchable PDF: what a screen reader goes by (ISO 32000-1, 14.7 and 14.8).

It says what the Markdown says, from the same flow: headings, paragraphs, lists, tables and figures in reading order,
one paragraph where the page's end cuts it in two. Its leaves name pieces of marked content in the text layer. Where the
words there are not those of the text, as where a hyphen parts one, the text itself is the element's /ActualText.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from warmwire.documents.output.flow import FURNITURE, Item, Listing, clean, flow
from warmwire.documents.output.shares import Share
from warmwire.documents.output.tables import grid_of
from warmwire.documents.reading.record import Reading
from warmwire.layout.page import Cell, Kind, Table

_NAMES: Final = {
    Kind.TITLE: "H1", Kind.CAPTION: "Caption", Kind.FOOTNOTE: "Note", Kind.PICTURE: "Figure", Kind.FORMULA: "Formula",
    Kind.CODE: "Code", Kind.LIST_ITEM: "LBody", Kind.TABLE: "Table",
}  # fmt: skip
_DEEPEST: Final = 6
_BOXES: Final = {Kind.CHECKED: "☑", Kind.UNCHECKED: "☐"}


class MarkedPiece(NamedTuple):
    """A piece of marked content: what it shows, and its element's left, bottom, right and top in user space."""

    share: Share
    bounds: tuple[float, float, float, float]


class _Named(NamedTuple):
    """A piece, and how the tree names it: the page's place in the file, and its number there."""

    page: int
    number: int
    piece: MarkedPiece


def tag_of(share: Share) -> str:
    """The standard structure type of a share."""
    if share.is_mark:
        return "Lbl"
    if share.cell is not None:
        return "TH" if share.cell.header else "TD"
    element = share.element
    if element is not None and element.kind is Kind.HEADING:
        return f"H{min(max(element.level, 1) + 1, _DEEPEST)}"
    return _NAMES.get(element.kind, "P") if element is not None else "P"


def is_tagged(pdf: Any) -> bool:
    """Whether a document of pikepdf has a structure tree, or what is left of one."""
    return "/StructTreeRoot" in pdf.Root or any("/StructParents" in page.obj for page in pdf.pages)


def add_tree(pdf: Any, reading: Reading, pieces: Mapping[int, Sequence[MarkedPiece]]) -> None:
    """Give a document of pikepdf the structure of a reading. `pieces` are those of its pages, by the pages' places in
    the file, in the order of their numbers."""
    from pikepdf import Dictionary

    tree = _Tree(pdf, pieces)
    for block in flow(reading):
        tree.add(block)
    pdf.Root.StructTreeRoot = tree.finish()
    marks = dict(pdf.Root.get("/MarkInfo", Dictionary()).items())
    pdf.Root.MarkInfo = Dictionary({**marks, "/Marked": True})


class _Tree:
    """Adds block after block under one /Document."""

    def __init__(self, pdf: Any, pieces: Mapping[int, Sequence[MarkedPiece]]) -> None:
        from pikepdf import Array, Dictionary, Name

        self._pdf = pdf
        self._pages = {index: pdf.pages[index].obj for index in pieces}
        self._owners: dict[int, list[Any]] = {index: [None] * len(found) for index, found in pieces.items()}
        """The elements that name each page's pieces."""
        self._named: dict[int, list[_Named]] = defaultdict(list)
        """Pieces by the identity of the page element that they are part of."""
        for index, found in pieces.items():
            for number, piece in enumerate(found):
                self._named[id(piece.share.element)].append(_Named(index, number, piece))
        self._root = pdf.make_indirect(Dictionary(Type=Name.StructTreeRoot, K=Array()))
        self._document = self._node("Document", self._root)

    def add(self, block: Item | Listing) -> None:
        if isinstance(block, Listing):
            self._list(block, self._document)
        elif block.kind is Kind.TABLE and block.element.table is not None and block.element.table.cells:
            self._table(block, block.element.table)
        elif block.kind not in FURNITURE:
            caption = [block.caption] if block.caption is not None else []
            for item in [block, *caption] if block.is_captioned_below else [*caption, block]:
                self._text(item, self._document)

    def finish(self) -> Any:
        """The tree's root, with the way back from the pieces to their elements."""
        from pikepdf import Array, Dictionary, Name

        numbers = Array()
        for count, (index, owners) in enumerate(sorted(self._owners.items())):
            page = self._pages[index]
            page.StructParents, page.Tabs = count, Name.S
            numbers.append(count)
            numbers.append(self._pdf.make_indirect(Array(owners)))
        self._root.ParentTree = self._pdf.make_indirect(Dictionary(Nums=numbers))
        self._root.ParentTreeNextKey = len(self._owners)
        return self._root

    def _node(self, kind: str, parent: Any, named: Sequence[_Named] = (), text: str | None = None) -> Any:
        """A new element, the last under its parent, of some pieces; their text is `text` where it is not their own."""
        from pikepdf import Array, Dictionary, Name, String

        node = self._pdf.make_indirect(Dictionary(S=Name(f"/{kind}"), P=parent, K=Array()))
        for index, number, _ in named:
            self._owners[index][number] = node
            if index == named[0].page:
                node.K.append(number)
            else:
                node.K.append(Dictionary(Type=Name.MCR, Pg=self._pages[index], MCID=number))
        if named:
            node.Pg = self._pages[named[0].page]
        if text and text.split() != " ".join(piece.share.text for _, _, piece in named).split():
            node.ActualText = String(text)
        parent.K.append(node)
        return node

    def _pieces(self, item: Item, chosen: Callable[[Share], bool] = lambda share: True) -> list[_Named]:
        found = (named for part in item.parts for named in self._named.get(id(part.element), ()))
        return [named for named in found if chosen(named.piece.share)]

    def _text(self, item: Item, parent: Any) -> None:
        """A text or a figure; nothing where its page has no layer."""
        from pikepdf import Array, Dictionary, Name, String

        named = self._pieces(item)
        if not named:
            return
        kind, text = tag_of(named[0].piece.share), item.text
        if kind == "Code":
            parent = self._node("P", parent)  # a part of a paragraph, says the standard
        if item.kind in _BOXES and text[:1] not in _BOXES.values():
            text = f"{_BOXES[item.kind]} {text}"
        node = self._node(kind, parent, named, None if kind in ("Figure", "Formula") else text)
        if kind == "Figure":
            node.Alt = String(_shown(item))
            bounds = Array([round(side, 2) for side in named[0].piece.bounds])
            node.A = Dictionary(O=Name.Layout, Placement=Name.Block, BBox=bounds)
        elif kind == "Formula":
            node.Alt = String(text)

    def _list(self, listing: Listing, parent: Any) -> None:
        from pikepdf import Dictionary, Name

        if not any(map(self._pieces, listing.items)):
            return
        node = self._node("L", parent)
        if counted := _numbering(listing):
            node.A = Dictionary(O=Name.List, ListNumbering=Name(f"/{counted}"))
        for item in listing.items:
            entry = self._node("LI", node)
            marks = self._pieces(item, lambda share: share.is_mark)
            if marks:
                self._node("Lbl", entry, marks)
            text = item.text if marks or not listing.ordered else f"{item.marker} {item.text}"
            body = self._node("LBody", entry, self._pieces(item, lambda share: not share.is_mark), text)
            for inner in item.lists:
                self._list(inner, body)

    def _table(self, item: Item, table: Table) -> None:
        if not self._pieces(item):
            return
        node = self._node("Table", self._document)
        if item.caption is not None and not item.is_captioned_below:
            self._text(item.caption, node)
        cells: dict[int, list[_Named]] = defaultdict(list)
        for named in self._pieces(item):
            cells[id(named.piece.share.cell)].append(named)
        headers = grid_of(table).headers
        for row in range(table.rows):
            line = self._node("TR", node)
            for cell in _row(table, row):
                self._cell(cell, line, cells[id(cell)], "Column" if row < headers else "Row")
        if item.caption is not None and item.is_captioned_below:
            self._text(item.caption, node)

    def _cell(self, cell: Cell, row: Any, named: Sequence[_Named], scope: str) -> None:
        from pikepdf import Dictionary, Name

        node = self._node("TH" if cell.header else "TD", row, named, clean(cell.text))
        attributes = Dictionary(O=Name.Table)
        if cell.rowspan > 1:
            attributes.RowSpan = cell.rowspan
        if cell.colspan > 1:
            attributes.ColSpan = cell.colspan
        if cell.header:
            attributes.Scope = Name(f"/{scope}")
        if len(attributes) > 1:
            node.A = attributes


def _shown(figure: Item) -> str:
    """What a figure shows, in words: the file's, those inside it, its caption's, or that there is one."""
    caption = figure.caption.text if figure.caption is not None else ""
    return clean(figure.element.alt) or figure.text or caption or f"Figure on page {figure.parts[0].page.record.page}"


def _row(table: Table, row: int) -> list[Cell]:
    """The cells that begin in a row, from left to right, with empty ones where no cell reaches."""
    covered = {
        column
        for cell in table.cells
        if cell.row <= row < cell.row + cell.rowspan
        for column in range(cell.column, cell.column + cell.colspan)
    }
    empty = [Cell("", row, column) for column in range(table.columns) if column not in covered]
    return sorted([*(cell for cell in table.cells if cell.row == row), *empty], key=lambda cell: cell.column)


def _numbering(listing: Listing) -> str:
    """How the standard names the marks of a list; "" for those that it has no name for."""
    first = listing.items[0].marker.strip("().[] ")
    if not listing.ordered:
        return "Disc"
    if first.isdecimal():
        return "Decimal"
    return {"a": "LowerAlpha", "A": "UpperAlpha", "i": "LowerRoman", "I": "UpperRoman"}.get(first, "")
