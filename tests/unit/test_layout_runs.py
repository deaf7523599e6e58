"""Where words stand, and how a report carries it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmwire.layout.runs import Run, report_runs, reported_runs

RUN = Run("two words", (10.0, 20.0), (100.0, 0.0), (0.0, 12.0), ((0.0, 0.3), (0.4, 1.0)), 0.9)
SENT = ["two words", [10.0, 20.0, 100.0, 0.0, 0.0, 12.0], [0, 300, 400, 1000], 0.9]


def test_a_run_comes_back_from_a_report() -> None:
    sent = json.loads(json.dumps(report_runs([RUN])))
    assert sent == [SENT]
    assert list(reported_runs(sent)) == [RUN]


def test_a_run_is_moved_with_its_page() -> None:
    turned = RUN.moved(lambda x, y: (500 - y, x))
    assert (turned.corner, turned.along, turned.across) == ((480.0, 10.0), (0.0, 100.0), (-12.0, 0.0))
    assert turned.middle == (474.0, 60.0)
    assert turned.words == ["two", "words"]


@pytest.mark.parametrize(
    "item",
    [
        None,
        "text",
        ["two words", SENT[1], SENT[2]],
        [7, *SENT[1:]],
        ["", SENT[1], [], 1.0],
        ["two words", SENT[1][:5], SENT[2], 0.9],
        ["two words", [*SENT[1][:5], float("nan")], SENT[2], 0.9],
        ["two words", [10, 20, 0, 0, 0, 12], SENT[2], 0.9],
        ["two words", SENT[1], [0, 300, 400], 0.9],
        ["two words", SENT[1], [0, 300, 400, "1"], 0.9],
        ["x" * 5000, SENT[1], [0, 1000], 0.9],
    ],
)
def test_what_is_malformed_is_left_out(item: Any) -> None:
    assert list(reported_runs([item, SENT])) == [RUN]


def test_places_are_kept_on_the_line() -> None:
    (run,) = reported_runs([["a b", SENT[1], [-50, 300, 900, 200], 7]])
    assert run.spans == ((0.0, 0.3), (0.9, 0.9))
    assert run.confidence == 1.0


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner), max_leaves=20))
def test_no_report_breaks_the_reader(value: Any) -> None:
    for run in reported_runs(value):
        assert len(run.spans) == len(run.words)
