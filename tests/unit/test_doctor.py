"""`warmwire doctor` goes by the package's own list of what it needs."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from warmwire.cli.doctor import required

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def names(requirements: list[str]) -> set[str]:
    found = [re.match(r"[\w.-]+", line) for line in requirements]
    return {match[0] for match in found if match}


@pytest.mark.parametrize("extra", ["bridge", "llama", "pages"])
def test_an_extra_is_what_the_project_says(extra: str) -> None:
    skipped = {"rapid-table"} if sys.version_info >= (3, 13) else set()
    assert set(required(extra)) == names(PROJECT["optional-dependencies"][extra]) - skipped


def test_the_base_is_what_the_project_says() -> None:
    assert set(required(None)) == names(PROJECT["dependencies"])


def test_conditions_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["a>=1", 'b; extra == "x"', "c[d]<2; python_version < '3.0' and extra == 'x'", 'e; python_version < "9.0"']
    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    assert required(None) == ["a", "e"]
    assert required("x") == ["b"]
