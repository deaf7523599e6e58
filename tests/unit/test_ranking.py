"""Which passages a search finds first."""

from __future__ import annotations

import pytest

pytest.importorskip("mcp")

from warmwire.bridge.mcp import rank


def test_rare_words_count_more_than_frequent_ones() -> None:
    passages = ["the pump and the pipe", "the valve", "the the the pump", "a boat"]
    assert rank("the valve", passages)[0] == 1
    assert set(rank("the", passages)) == {0, 1, 2}
    assert rank("PUMP pipe", passages)[0] == 0


def test_nothing_is_found_where_nothing_is() -> None:
    assert rank("lamp", ["a", "b"]) == []
    assert rank("", ["a"]) == []
    assert rank("a", []) == []
