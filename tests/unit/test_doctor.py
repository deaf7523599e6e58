"""`warmwire doctor` goes by the package's own list of what it needs."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from warmwire.cli.verbs.doctor import required

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def names(requirements: list[str]) -> set[str]:
    found = [re.match(r"[\w.-]+", line) for line in requirements]
    return {match[0] for match in found if match}


def as_installed() -> list[str]:
    """The project's requirements as the metadata of an installed package has them."""
    lines = list(PROJECT["dependencies"])
    for extra, requirements in PROJECT["optional-dependencies"].items():
        for line in requirements:
            name, _, condition = line.partition(";")
            lines.append(f'{name.strip()}; {condition.strip() + " and " if condition else ""}extra == "{extra}"')
    return lines


@pytest.mark.parametrize("extra", ["bridge", "llama", "pages"])
def test_an_extra_is_what_the_project_says(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: as_installed())
    assert set(required(extra)) == names(PROJECT["optional-dependencies"][extra])
    assert required(extra)


def test_the_base_is_what_the_project_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: as_installed())
    assert set(required(None)) == names(PROJECT["dependencies"])


def test_conditions_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["a>=1", 'b; extra == "x"', "c[d]<2; python_version < '3.0' and extra == 'x'", 'e; python_version < "9.0"']
    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    assert required(None) == ["a", "e"]
    assert required("x") == ["b"]
