"""A reading as plain text: no markup but the marks of lists and check boxes and the pipes of tables."""

from __future__ import annotations

from collections.abc import Sequence

from warmwire.documents.output.flow import Item
from warmwire.documents.output.markdown import MarkdownWriter, grid_rows
from warmwire.documents.reading.record import Reading
from warmwire.layout.page import Table


def to_text(reading: Reading) -> str:
    """A reading as plain text, in the order of its Markdown."""
    return _TextWriter().write(reading)


class _TextWriter(MarkdownWriter):
    def words(self, text: str, links: Sequence[tuple[str, str]]) -> str:
        return text

    def paragraph(self, item: Item) -> str:
        return item.text

    def heading(self, item: Item, level: int) -> str:
        return item.text

    def code(self, text: str) -> str:
        return text

    def picture(self, item: Item) -> str:
        return ""

    def table(self, table: Table) -> str:
        return "\n".join(" | ".join(row) for row in grid_rows(table))
