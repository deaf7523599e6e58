"""The one list of DocTags tokens, and how they are told from text.

The names are those of docling-core's `DocumentToken` and `TableToken`, which SmolDocling and Granite-Docling were
trained on. DocTags has no escaping: `<word>` is a tag when `word` is on this list, and literal text otherwise.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from warmwire.layout.page import Kind

GRID: Final = 500
"""Places are given on a grid of this many steps along each axis of the page, whatever its shape."""

MAX_LEVEL: Final = 6
"""Deepest heading and deepest list that is told apart; deeper ones count as this."""


class CellToken(StrEnum):
    """OTSL: what stands at one place of a table's grid, and the end of a row."""

    FULL = "fcel"
    EMPTY = "ecel"
    LEFT = "lcel"  # belongs to the cell on its left
    UP = "ucel"  # belongs to the cell above
    CROSS = "xcel"  # belongs to the cell above and on the left
    COLUMN_HEADER = "ched"
    ROW_HEADER = "rhed"
    SECTION = "srow"
    ROW_END = "nl"


BLOCKS: Final[dict[str, Kind]] = {
    **{kind.value: kind for kind in Kind if kind is not Kind.HEADING},
    **{f"{Kind.HEADING.value}_level_{level}": Kind.HEADING for level in range(MAX_LEVEL + 1)},
    Kind.HEADING.value: Kind.HEADING,
    "chart": Kind.PICTURE,
    "paragraph": Kind.TEXT,
    "reference": Kind.TEXT,
    "handwritten_text": Kind.TEXT,
    "document_index": Kind.TEXT,
    "smiles": Kind.TEXT,
    "inline": Kind.TEXT,
}
"""Tags that hold one element."""

LISTS: Final[dict[str, bool]] = {"ordered_list": True, "unordered_list": False}
"""Tags that hold list items, and whether these count."""

GROUPS: Final = frozenset({"doctag", "form", "key_value_region", "page_break"})
"""Tags that only separate: they end an element and hold nothing of their own."""

RUNS: Final = frozenset({"text", "code", "formula"})
"""Tags that inside `inline` mark runs of one paragraph."""

CELLS: Final = frozenset(cell.value for cell in CellToken)

NOISE: Final = frozenset({"end_of_utterance", "|end_of_text|", "|im_end|", "|endoftext|"})
"""What a model says at the end of its answer when its server shows special tokens."""

# fmt: off
PICTURE_CLASSES: Final = frozenset((
    "bar_chart", "box_plot", "flow_chart", "line_chart", "pie_chart", "scatter_plot", "table", "full_page_image",
    "page_thumbnail", "photograph", "chemistry_structure", "bar_code", "icon", "logo", "qr_code", "signature",
    "stamp", "engineering_drawing", "screenshot_from_computer", "screenshot_from_manual", "geographical_map",
    "topographical_map", "calendar", "crossword_puzzle", "music", "other", "cad_drawing", "decoration",
    "electrical_diagram", "map", "heatmap", "illustration", "infographic", "chemistry_markush_structure",
    "chemistry_molecular_structure", "natural_image", "person", "picture_group", "remote_sensing", "scatter_chart",
    "screenshot", "stacked_bar_chart", "stratigraphic_chart", "ui_element", "line", "dot_line", "vbar_categorical",
    "hbar_categorical",
))
# fmt: on
"""What a picture shows; a tag only where a picture begins, a word everywhere else."""

TAG: Final = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z_|][\w|#+]{0,63})/?>", re.ASCII)
"""Anything that has the shape of a tag."""

LOCATION: Final = re.compile(r"loc_(\d{1,4})", re.ASCII)
LANGUAGE: Final = re.compile(r"_[\w#+]{1,20}_", re.ASCII)
"""The language of a piece of code; a tag only where code begins."""

PAIR: Final = re.compile(r"(?:key|value|link)_\d{1,4}", re.ASCII)
"""Keys and values of a form; tags only inside `key_value_region`."""


def is_tag(name: str) -> bool:
    """Whether `<name>` may be a tag at some place of a page."""
    return (
        name in BLOCKS
        or name in LISTS
        or name in GROUPS
        or name in CELLS
        or name in NOISE
        or name in PICTURE_CLASSES
        or any(shape.fullmatch(name) for shape in (LOCATION, LANGUAGE, PAIR))
    )
