"""What THREAT_MODEL.md names is there: each function that defends, and each test of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "THREAT_MODEL.md").read_text("utf-8")
TABLES = re.findall(r"^\| threat \|.*\n\|-.*\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
ROWS = [line.strip("| ").split(" | ") for table in TABLES for line in table.splitlines()]
NAMED = sorted(set(re.findall(r"`(\w[\w/]*\.py)(?:::(\w+))?`", "\n".join(TABLES))))


def test_every_threat_has_a_test() -> None:
    assert len(ROWS) > 30
    tests = re.compile(r"`(unit|integration|e2e|property)/[\w/]*test_\w+\.py")
    assert [row[0] for row in ROWS if not tests.search(row[-1])] == []


@pytest.mark.parametrize(("place", "name"), NAMED)
def test_what_is_named_exists(place: str, name: str) -> None:
    is_test = place.startswith(("unit/", "integration/", "e2e/", "property/"))
    text = (ROOT / ("tests" if is_test else "src/warmwire") / place).read_text("utf-8")
    assert not name or re.search(rf"^ *(?:async )?(?:def|class) {name}\b", text, re.MULTILINE), f"{place} has no {name}"
