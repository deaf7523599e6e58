"""Writes the parts of the documentation that the code knows better: `make docs-reference`.

    docs/cli.md, docs/warmwire.1     every verb, from the command line itself
    docs/completions/                what bash, zsh and fish ask at the Tab key, as typer writes it
    docs/errors.md                   every error, from `warmwire.errors`
    the table of rooms               in docs/architecture.md and CONTRIBUTING.md, from the packages and their test
    docs/flow.svg                    the picture of docs/flow.txt

A test asserts that running it again changes nothing.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "docs")]

import typer.main  # noqa: E402
from flow import drawn  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from warmwire import errors  # noqa: E402
from warmwire.cli import make_app  # noqa: E402
from warmwire.cli.examples import EXAMPLES  # noqa: E402

app: Final = make_app()

MADE: Final = "<!-- Made by docs/reference.py; run `make docs-reference` instead of editing. -->"
ROOMS: Final = ("<!-- rooms: made by docs/reference.py -->", "<!-- end of rooms -->")
STATUS: Final = {
    "0": "done; of a host: ended by a signal",
    "1": "some input failed, or no model or host answered; what went wrong is on standard error",
    "2": "wrong usage",
    "130": "interrupted (Ctrl-C)",
    "143": "terminated (SIGTERM)",
}

COMPLETIONS: Final = {"bash": "warmwire", "zsh": "_warmwire", "fish": "warmwire.fish"}
"""The file of each shell, under the name by which it is looked for."""

VARIABLES: Final = {
    "WARMWIRE_MODELS": "folders of model files for `warmwire models`, with colons between",
    "WARMWIRE_LOG_DIR": "folder of the activity log of `warmwire serve`, as --log-dir",
    "WARMWIRE_API_KEY": "key for the server behind an openai: model; else OPENAI_API_KEY",
}


def main() -> None:
    """Write every file that is made."""
    for path, text in made().items():
        path.write_text(text, encoding="utf-8")


def made() -> dict[Path, str]:
    """Every file that is made, whole or in part, and its text."""
    docs = ROOT / "docs"
    return {
        docs / "cli.md": _cli(),
        docs / "warmwire.1": _manual(),
        docs / "errors.md": _errors(),
        docs / "flow.svg": drawn((docs / "flow.txt").read_text(encoding="utf-8")),
        **{docs / "completions" / name: _completion(shell) for shell, name in COMPLETIONS.items()},
        **{path: _with_rooms(path) for path in (docs / "architecture.md", ROOT / "CONTRIBUTING.md")},
    }


# ------------------------------------------------------------------ the command line


def verbs() -> dict[str, Any]:
    return dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def _parts(command: Any) -> tuple[list[Any], list[Any]]:
    """Arguments and options of a command; --help, which all have, aside."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    return arguments, options


def _value(option: Any) -> str:
    """What an option takes, "" for one that is given alone."""
    if option.is_flag or option.name in ("install_completion", "show_completion"):
        return ""
    if option.metavar:
        return str(option.metavar)
    if choices := getattr(option.type, "choices", None):
        return "|".join(map(str, choices))
    number = "float" in option.type.name or "integer" in option.type.name
    return "N" if number else "TEXT"


def _names(option: Any) -> list[str]:
    return sorted([*option.opts, *option.secondary_opts], key=len)


def _plain(number: float) -> str:
    """A number in full, as it may be typed: 1048576 rather than 1.04858e+06."""
    return str(number) if isinstance(number, int) else f"{number:g}"


def _default(param: Any) -> str:
    """The value that holds where none is given, and the values there are."""
    found = ""
    if isinstance(param.show_default, str):
        found = param.show_default
    elif param.default not in (None, "", False, ()) and not callable(param.default) and not param.required:
        found = str(getattr(param.default, "value", param.default))
    low, high = getattr(param.type, "min", None), getattr(param.type, "max", None)
    span = ""
    if low is not None:
        open_end = high is None or high >= 2**31
        span = f"{_plain(low)} and more" if open_end else f"{_plain(low)} to {_plain(high)}"
    if envvar := getattr(param, "envvar", None):
        found = f"{found}; " * bool(found) + f"`{envvar}`"
    return "; ".join(part for part in (found, span) if part)


def _usage(verb: str, command: Any) -> str:
    arguments, _ = _parts(command)
    return " ".join([f"warmwire {verb} [OPTIONS]", *(argument.metavar for argument in arguments)])


def _paragraphs(command: Any) -> list[str]:
    return [" ".join(part.split()) for part in str(command.help).split("\n\n")]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _cli() -> str:
    lines = [
        "# The command line",
        "",
        MADE,
        "",
        "`warmwire VERB --help`, `-h` and `warmwire help VERB` print the same.",
    ]
    lines += ["Results go to standard output, everything else to standard error.", "", "| exit status | |", "|---|---|"]
    lines += [f"| {status} | {meaning} |" for status, meaning in STATUS.items()]
    lines += ["", "Before the verb stand", "", *_option_table(_parts(typer.main.get_command(app))[1])]
    for verb, command in verbs().items():
        arguments, options = _parts(command)
        lines += [f"## {verb}", "", f"    {_usage(verb, command)}", ""]
        for paragraph in _paragraphs(command):
            lines += [paragraph, ""]
        if arguments:
            lines += ["| argument | |", "|---|---|"]
            lines += [f"| `{_cell(a.metavar)}` | {_cell(a.help or '')} |" for a in arguments]
            lines.append("")
        lines += _option_table(options)
        lines += ["```sh", *EXAMPLES[verb], "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def _completion(shell: str) -> str:
    """The script by which a shell asks `warmwire` itself how a command line may go on."""
    done = CliRunner().invoke(app, prog_name="warmwire", env={"_WARMWIRE_COMPLETE": f"source_{shell}"})
    script = done.stdout.strip() + "\n"
    if shell == "zsh":
        # zsh reads the file at the first Tab, and that one is to be answered as well.
        script = script.replace("compdef _warmwire_completion warmwire", '_warmwire_completion "$@"')
    return script


def _option_table(options: list[Any]) -> list[str]:
    if not options:
        return []
    lines = ["| option | | default; values |", "|---|---|---|"]
    for option in options:
        *short, long = _names(option)
        names = ", ".join(f"`{_cell(name)}`" for name in [*short, f"{long} {_value(option)}"])
        lines.append(f"| {names} | {_cell(option.help or '')} | {_cell(_default(option))} |")
    return [*lines, ""]


def _manual() -> str:
    """The manual page, in man's own macros."""
    lines = ['.\\" Made by docs/reference.py; run `make docs-reference` instead of editing.']
    lines += ['.TH WARMWIRE 1 "" warmwire "User Commands"', ".SH NAME"]
    lines += ["warmwire \\- read documents, and keep models warm behind local sockets", ".SH SYNOPSIS"]
    lines += [".B warmwire", ".RI [ OPTIONS ]", ".I VERB", ".RI [ OPTIONS ]", ".RI [ ARGUMENTS ]", ".SH DESCRIPTION"]
    lines += [_roff(part) for part in _paragraphs(typer.main.get_command(app))]
    lines += [".PP", "Results go to standard output, everything else to standard error.", ".SH OPTIONS"]
    lines += _roff_options(_parts(typer.main.get_command(app))[1])
    lines.append(".SH VERBS")
    for verb, command in verbs().items():
        lines += [f".SS {_roff(_usage(verb, command))}"]
        for paragraph in _paragraphs(command):
            lines += [_roff(paragraph), ".PP"]
        lines.pop()
        for argument in _parts(command)[0]:
            lines += [".TP", f".I {_roff(argument.metavar)}", _roff(argument.help or "")]
        lines += _roff_options(_parts(command)[1])
        lines += [".PP", "Examples:", ".PP", ".nf", ".RS", *map(_roff, EXAMPLES[verb]), ".RE", ".fi"]
    lines.append(".SH EXIT STATUS")
    for status, meaning in STATUS.items():
        lines += [".TP", f".B {status}", _roff(meaning)]
    lines += [".SH FILES", ".TP", ".I $XDG_RUNTIME_DIR/inferd/inferd.sock", "where hosts listen, unless told otherwise"]
    lines += [".TP", ".I $XDG_CONFIG_HOME/warmwire/models.toml", "models that the bridge may start, and their names"]
    lines += [".TP", ".I .warmwire\\-journal", "beside the output of ocr, until that is complete: pages that were read"]
    lines += [".SH ENVIRONMENT"]
    for name, meaning in VARIABLES.items():
        lines += [".TP", f".B {name}", _roff(meaning)]
    return "\n".join(lines) + "\n"


def _roff_options(options: list[Any]) -> list[str]:
    lines = []
    for option in options:
        names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in _names(option))
        value, default = _value(option), _default(option)
        more = f" [{default}]" if default else ""
        lines += [".TP", names + (f" \\fI{_roff(value)}\\fR" if value else ""), _roff(f"{option.help}{more}")]
    return lines


def _roff(text: str) -> str:
    """Text as man shows it: its own signs escaped, none of its lines a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


# ------------------------------------------------------------------ errors


def _errors() -> str:
    lines = ["# Errors", "", MADE, "", "Every error that warmwire raises on purpose is a `WarmwireError`, from"]
    lines += [
        "`warmwire.errors`. A host raises one to choose the code that the client is sent; a client raises the same"
    ]
    lines += ["class for that code. `partial` holds the text that had arrived before the error.", ""]
    lines += ["| class | code on the wire | exit status | when |", "|---|---|---|---|"]
    for depth, error in _tree(errors.WarmwireError):
        when = " ".join((error.__doc__ or "").split())
        indent = "&nbsp;&nbsp;" * depth
        lines.append(f"| {indent}`{error.__name__}` | `{error.code}` | {error.exit_status} | {_cell(when)} |")
    lines += ["", "An unknown code from a host becomes a plain `RequestError` that names it."]
    return "\n".join(lines) + "\n"


def _tree(error: type[errors.WarmwireError], depth: int = 0) -> Iterator[tuple[int, type[errors.WarmwireError]]]:
    yield depth, error
    for below in error.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from _tree(below, depth + 1)


# ------------------------------------------------------------------ rooms


def _with_rooms(path: Path) -> str:
    """A page with the table of rooms brought up to date."""
    text = path.read_text(encoding="utf-8")
    begin, end = ROOMS
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise LookupError(f"{path} has no place for the table of rooms")
    return before + begin + "\n" + "\n".join(_rooms()) + "\n" + end + after


def _rooms() -> Iterator[str]:
    yield "| room | holds | may import |"
    yield "|---|---|---|"
    yield f"| `errors` | {_purpose('errors.py')} | |"
    table = _may_import()
    order = [*table, ""]
    for room, others in table.items():
        if room == "cli":
            allowed = "everything"
        else:
            allowed = " ".join(f"`{other or 'warmwire'}`" for other in sorted(others, key=order.index))
        yield f"| `{room}` | {_purpose(f'{room}/__init__.py')} | {allowed} |"


def _purpose(file: str) -> str:
    """The first paragraph of a module's docstring, as one line."""
    tree = ast.parse((ROOT / "src" / "warmwire" / file).read_text(encoding="utf-8"))
    first = (ast.get_docstring(tree) or "").split("\n\n")[0]
    return re.sub(r"\s+", " ", first).rstrip(".")


def _may_import() -> dict[str, set[str]]:
    """The table that the test of the rooms enforces, read without running the test's imports."""
    tree = ast.parse((ROOT / "tests" / "unit" / "test_rooms.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "MAY_IMPORT":
            text = ast.unparse(node.value)
            return dict(eval(text, {"__builtins__": {"set": set}}))
    raise LookupError("MAY_IMPORT")


if __name__ == "__main__":
    main()
