"""Every input of `python -m tests.fuzz`, those among them that once failed: read as one and in pieces."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.targets import TARGETS, agree, inputs


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_fuzzed_reads_its_inputs(name: str) -> None:
    for data in inputs(name):
        agree(TARGETS[name].read, data, random.Random(1))


@pytest.mark.parametrize("name", TARGETS)
def test_sound_input_is_read_to_its_end(name: str) -> None:
    assert inputs(name)
    for data in TARGETS[name].seeds:
        assert TARGETS[name].read(iter([data]))[1] == "end"
