"""The command line as a whole: what `--help` says, as it is read, and what options refuse."""

from __future__ import annotations

import inspect
import itertools
import textwrap

import pytest
import typer.main
from typer.testing import CliRunner

from warmwire.cli import app

FRACTIONS = [
    (name, option.opts[0])
    for name, command in typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]
    for option in command.params
    if "float" in option.type.name
]
VERBS = [command.callback for command in app.registered_commands if command.callback is not None]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_paragraphs_are_not_broken_in_the_middle(verb: object) -> None:
    """Help keeps the lines of a docstring: one that ends early without an end of its sentence is a torn one."""
    for paragraph in (inspect.getdoc(verb) or "").split("\n\n"):
        lines = paragraph.splitlines()
        for line, rest in itertools.pairwise(lines):
            first = rest.split()[0]
            assert len(line) + 1 + len(first) > 90 or line.endswith((".", ":")), textwrap.shorten(line, 100)


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize(("verb", "option"), FRACTIONS)
def test_what_is_no_number_is_refused(verb: str, option: str, value: str) -> None:
    """Neither is outside of any range as comparisons see it."""
    done = CliRunner().invoke(app, [verb, option, value, "x"])
    assert done.exit_code == 2
    assert f"Invalid value for '{option}'" in done.output
