"""Which pages are read from right to left."""

from __future__ import annotations

import pytest

from warmwire.layout.mirror import is_leftward
from warmwire.layout.page import Box, Line


@pytest.mark.parametrize(
    ("text", "leftward"),
    [
        ("\u05d9\u05db\u05d9 1984", True),
        ("\u0641\u0625\u0646", True),
        ("\ufeed\ufb2a", True),  # forms for print
        ("\u7ba1\u7406\u5458\u4ecb\u7ecd\u4e86\u65e7\u6865", False),
        ("\ub098\ub77c \u30ab\u30bf", False),
        ("The lamps of \u05d9\u05db\u05d9", False),
        ("12", False),
    ],
)
def test_scripts_that_run_to_the_left(text: str, leftward: bool) -> None:
    assert is_leftward([Line(Box(0, 0, 10, 10), text)]) == leftward
