"""The scored documents: which sets there are, which of them are for tuning and which for judging, and their scores.

A set is a folder of documents with their truth. `scans`, `hard` and `hard-b` are made documents whose whole text is
known (`score.py`); `replicas` and `replicas-scan` are pages with facts noted of them (`check.py`), read from the file
and from its picture.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
SHARED: Final = ROOT.parent / "shared"
DATA: Final = ROOT / "tests" / "data"


@dataclass(frozen=True, slots=True)
class Set:
    """One set of documents: its folder in the corpus, and what follows a document's name in its file's."""

    name: str
    folder: str
    judged: bool
    facts: bool = False
    scan: bool = False

    def documents(self, corpus: Path) -> Iterator[tuple[str, Path]]:
        """Name and file of every document."""
        for truth in sorted((corpus / self.folder).glob("*.truth.json")):
            name = truth.name.removesuffix(".truth.json")
            if self.facts:
                yield name, truth.with_name(f"{name}.jpg.pdf" if self.scan else f"{name}.pdf")
            else:
                yield name, truth.with_name(json.loads(truth.read_text("utf-8"))["file"])

    def output(self, name: str) -> str:
        """The file name of a document's Markdown."""
        return f"{name}.scan.md" if self.scan else f"{name}.md"

    def score(self, corpus: Path, results: Path) -> dict[str, Any]:
        """What the set's scorer says of the Markdown in `results`."""
        scorer = corpus / "tools" / ("check.py" if self.facts else "score.py")
        command = [sys.executable, str(scorer), str(corpus / self.folder), str(results), "--json"]
        report: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        if self.facts:
            return report["scan" if self.scan else "digital"]
        return report


SETS: Final = (
    Set("scans", "scans", judged=False),
    Set("hard", "hard", judged=False),
    Set("hard-b", "hard-b", judged=True),
    Set("replicas", "replicas", judged=False, facts=True),
    Set("replicas-scan", "replicas", judged=False, facts=True, scan=True),
)

SMALL: Final = Set("small", "scored", judged=False)
"""The few small documents of this project, in `DATA`."""
