"""The command line as a whole: what `--help` says, as it is read, and what options refuse."""

from __future__ import annotations

import inspect
import itertools
import os
import shlex
import subprocess
import textwrap
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from tests.support import COMMAND
from warmwire.cli import make_app
from warmwire.cli.examples import EXAMPLES

app = make_app()

FRACTIONS = [
    (name, option.opts[0])
    for name, command in typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]
    for option in command.params
    if "float" in option.type.name
]
VERBS = [command.callback for command in app.registered_commands if command.callback is not None]


def test_the_list_of_verbs_has_their_whole_sentences() -> None:
    said = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    for verb in VERBS:
        first = " ".join((inspect.getdoc(verb) or "").partition("\n\n")[0].split())
        assert first.endswith(".")
        assert first in said


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


COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("verb", ["", *COMMANDS])
def test_h_is_help(verb: str) -> None:
    words = [verb] if verb else []
    short, long = (CliRunner().invoke(app, [*words, option], prog_name="warmwire") for option in ("-h", "--help"))
    assert short.exit_code == 0
    assert short.output == long.output
    assert "-h, --help" in short.output


@pytest.mark.parametrize("verb", COMMANDS)
def test_help_ends_in_examples_that_fit_a_terminal(verb: str) -> None:
    done = CliRunner().invoke(app, ["help", verb], prog_name="warmwire")
    _, _, examples = done.output.partition("Examples:\n")
    lines = [line for line in examples.splitlines() if line.strip()]
    assert [line.strip() for line in lines] == list(EXAMPLES[verb])
    assert max(len(line) for line in lines) <= 80


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_every_example_is_a_call_that_can_be_meant(line: str) -> None:
    call = line.rpartition("| ")[2].partition(" < ")[0]
    program, *words = shlex.split(call, comments=True)
    assert program == "warmwire"
    if words[0] != "help":  # which shows what it is asked for
        COMMANDS[words[0]].make_context(words[0], words[1:])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_installs_and_completes(shell: str, tmp_path: Path) -> None:
    """The shell is found by the process that calls; told not to look, typer takes the name of one."""
    place = os.environ | {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run([*COMMAND, "--install-completion", shell], env=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    installed = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_WARMWIRE_COMPLETE=complete_" in text for text in installed)
    asked = {
        "_WARMWIRE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "warmwire st",
        "COMP_CWORD": "1",
        "_TYPER_COMPLETE_ARGS": "warmwire st",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(COMMAND, env=os.environ | asked, capture_output=True, text=True)
    assert "status" in done.stdout
