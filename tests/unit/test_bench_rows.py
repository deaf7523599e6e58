"""The benchmarks' own arithmetic: pairs, spreads, growth, bounds, the table."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.rows import Note, Row, Spread, alone, growth, in_turn, paired
from benchmarks.table import figure, line, table


def test_a_ratio_is_of_each_pair_and_not_of_the_medians():
    row = paired("g", "n", "ms", "peer", [(1, 1), (4, 2), (9, 3), (40, 10)], more=False)
    assert row.ratio == Spread(1, 2.5, 4, 4)
    assert row.ours.middle == 6.5
    assert row.theirs == 2.5
    assert row.judged is row.ratio


def test_the_spread_of_many_is_from_quartile_to_quartile_and_of_few_is_all():
    assert Spread.of([float(value) for value in range(13)]) == Spread(3, 6, 9, 13)
    assert Spread.of([float(value) for value in range(11)]) == Spread(0, 5, 10, 11)


def test_one_value_has_no_spread():
    assert Spread.of([3.0]) == Spread(3.0, 3.0, 3.0, 1)


@given(st.lists(st.floats(0.1, 1e6), min_size=2, max_size=30))
def test_a_spread_is_in_order_and_among_the_values(values):
    spread = Spread.of(values)
    assert min(values) <= spread.low <= spread.middle <= spread.high <= max(values)


@pytest.mark.parametrize(
    ("more", "wanted", "met"), [(True, 3.0, False), (True, 2.0, True), (False, 3.0, True), (False, 1.9, False)]
)
def test_what_is_wanted_is_a_least_or_a_most(more, wanted, met):
    assert alone("g", "n", "x", [2.0], more=more, wanted=wanted).met is met


def test_a_bound_may_be_of_the_figure_though_there_is_a_ratio():
    assert not paired("g", "n", "ms", "peer", [(7, 7)], more=False, wanted=6, wanted_of="ours").met
    assert paired("g", "n", "ms", "peer", [(7, 7)], more=False, wanted=6).met


def test_nothing_wanted_is_neither_met_nor_missed():
    assert alone("g", "n", "x", [2.0], more=True).met is None


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.5])
def test_growth_is_the_exponent(exponent):
    row = growth("g", "n", ("MB", "s"), [(x, 3 * x**exponent) for x in (1, 10, 100)])
    assert row.ours.middle == pytest.approx(exponent)
    assert row.ours.high - row.ours.low == pytest.approx(0, abs=1e-6)


def test_points_off_the_line_widen_the_spread_of_a_growth():
    row = growth("g", "n", ("MB", "s"), [(1, 1), (10, 20), (100, 100)])
    assert row.ours.low < 1 < row.ours.high
    assert row.points == ((1, 1), (10, 20), (100, 100))


def test_each_side_is_first_in_turn():
    order: list[str] = []

    def side(name: str, value: float) -> float:
        order.append(name)
        return value

    pairs = in_turn(lambda: side("a", 1.0), lambda: side("b", 2.0), 0, least=3)
    assert pairs == [(1.0, 2.0)] * 3
    assert "".join(order) == "ab" + "ab" + "ba" + "ab"


def test_pairs_end_at_the_most():
    assert len(in_turn(lambda: 1.0, lambda: 1.0, math.inf, most=4, warm=False)) == 4


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1234567.8, "1,234,568"), (99.95, "99.95"), (1.5, "1.50"), (0.0456, "0.0456"), (0.00001, "1.0e-05")],
)
def test_figures(value, text):
    assert figure(value) == text


def test_the_table_has_groups_in_one_alignment_and_tells_what_is_missing():
    rows = [
        paired("first", "a", "ms", "peer", [(3, 2), (3, 2)], more=False, wanted=1.2),
        alone("second", "b", "", [5.0], more=True),
    ]
    lines = table(rows, [Note("second", "no peer")]).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:6]] == ["**first**", "a", "**second**", "b"]
    assert "≤ 1.2 ×" in lines[3]
    assert "**no**" in lines[3]
    assert len({len(line) for line in lines[:6]}) == 1
    assert lines[-1] == "- second: no peer"


def test_a_row_as_a_line_leaves_out_what_it_lacks():
    assert line(alone("g", "idle", "MB", [5.0], more=False)) == "idle  5.00  MB"
    assert isinstance(paired("g", "n", "", "p", [(1, 1)], more=True), Row)
