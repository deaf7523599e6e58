"""Many made inputs are not traced: they would take twice as long, and cover little that the other tests do not."""

from __future__ import annotations

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(pytest.mark.no_cover)
