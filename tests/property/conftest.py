"""Many made inputs are not traced: they would take twice as long, and cover little that the other tests do not.

They are sixty a test where the test does not say; `make fuzz` makes more of them, for as long as it is given.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("suite", max_examples=60)
settings.load_profile("suite")


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(pytest.mark.no_cover)
