"""The sentences that granite-docling knows, and the page of the manual that gives them to people."""

from __future__ import annotations

import re
from pathlib import Path

from warmwire.models import docling
from warmwire.wire.generation.messages import PROMPT_PAGE

MANUAL = Path(__file__).parents[2] / "docs" / "models.md"


def test_the_manual_gives_the_sentences_as_they_are() -> None:
    rows = re.findall(r"^\| (\w[\w ]*) \| `(Convert [^`]*)` \|$", MANUAL.read_text(), re.MULTILINE)
    assert dict(rows) == {
        "a page": PROMPT_PAGE,
        "a chart": docling.PROMPT_CHART,
        "a formula": docling.PROMPT_FORMULA,
        "code": docling.PROMPT_CODE,
        "a table": docling.PROMPT_TABLE,
    }
