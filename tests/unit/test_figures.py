"""Counts of a soak, and how they come into their page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.figures import write_between
from tests.soak.ledger import FAULTS, Ledger


def test_figures_replace_those_of_the_last_run_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- made by make x -->\nold\n<!-- end of make x -->\nafter\n")
    for line in ("new", r"newer \1"):
        write_between(page, "x", [line])
    assert page.read_text() == "before\n<!-- made by make x -->\n\nnewer \\1\n\n<!-- end of make x -->\nafter\n"
    with pytest.raises(LookupError, match="make y"):
        write_between(page, "y", ["new"])


def test_what_does_not_hold_is_counted_and_can_be_read(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "actions")
    fault, other = list(FAULTS)[:2]
    ledger.did(fault, "at byte 7")
    ledger.check(fault, True, "well")
    ledger.check(fault, False, "no answer")
    ledger.unexpected(other, ValueError("a bug"))
    ledger.skip(list(FAULTS)[2], "not here")
    ledger.close()
    assert len(ledger.violations) == 2
    assert ledger.violations[0] == f"{fault}: no answer"
    log = (tmp_path / "actions").read_text()
    assert log.index("at byte 7") < log.index("no answer") < log.index("a bug")
    table = ledger.table()
    assert table[2] == f"| {fault} | 1 | {FAULTS[fault]} | 2 | 1 |"
    assert "| skipped: not here |" in table[4]
    assert table[-1] == "| all | 1 | | 3 | 2 |"
