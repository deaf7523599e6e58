"""What `--help` says, as it is read."""

from __future__ import annotations

import inspect
import itertools
import textwrap

import pytest

from warmwire.cli import app

VERBS = [command.callback for command in app.registered_commands if command.callback is not None]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_paragraphs_are_not_broken_in_the_middle(verb: object) -> None:
    """Help keeps the lines of a docstring: one that ends early without an end of its sentence is a torn one."""
    for paragraph in (inspect.getdoc(verb) or "").split("\n\n"):
        lines = paragraph.splitlines()
        for line, rest in itertools.pairwise(lines):
            first = rest.split()[0]
            assert len(line) + 1 + len(first) > 90 or line.endswith((".", ":")), textwrap.shorten(line, 100)
