"""The command line: one module for each verb, the parts of `ocr`, and what verbs share (streams, signals, mistakes).

Only the verb that is called is loaded, and it imports what it needs when it runs. Results go to stdout and everything
else to stderr. Exit status: 0 done, 1 some input failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, Final

import typer

from warmwire.cli.console.mistakes import explained
from warmwire.cli.console.stdout import give_stdout_up, watch_stdout
from warmwire.cli.examples import epilog

VERBS: Final = (
    "ocr", "watch-folder", "serve", "ask", "chat", "embed", "rerank", "status", "watch", "bridge", "ps", "load", "stop",
    "train", "run", "inspect", "yaml", "merge", "ipc",
    "mcp", "models", "doctor", "help",
)  # fmt: skip
"""In the order of the help. Each is the function of its name in the module of its name."""

_NEED_WORDS: Final = frozenset(
    {"ocr", "watch-folder", "serve", "ask", "rerank", "load", "stop", "train", "run", "inspect", "yaml", "merge", "ipc"}
)
"""Verbs that can do nothing with no argument: alone they show their help."""


def make_app(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """The command line, with all of its verbs or some: each takes milliseconds to load."""
    app = typer.Typer(
        name="warmwire",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for verb in verbs:
        name = verb.replace("-", "_")
        function = getattr(import_module(f"warmwire.cli.verbs.{name}"), name)
        first = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())  # else it is cut to one line
        app.command(short_help=first, epilog=epilog(verb), no_args_is_help=verb in _NEED_WORDS)(function)
    return app


def _asked(words: Sequence[str]) -> Iterable[str]:
    """The verb that is called; all where the answer tells of them: help, a mistake, the Tab key."""
    return words[:1] if words and words[0] in VERBS and words[0] != "help" else VERBS


def _version(wanted: bool) -> None:
    if wanted:
        from warmwire import __version__

        typer.echo(f"warmwire {__version__}")
        raise typer.Exit


def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Read documents, and keep models loaded behind local sockets for every program on this machine."""


def main() -> None:
    """The `warmwire` command."""
    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")  # it may stand anywhere
        _log_everything()
    stdout = watch_stdout()
    try:
        # Typer itself makes 130 of a KeyboardInterrupt inside a verb.
        status = make_app(_asked(sys.argv[1:]))(prog_name="warmwire", standalone_mode=False) or 0
        if stdout is not None:
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except BrokenPipeError:  # the reader of our output has enough
        give_stdout_up()
        status = 1
    except Exception as error:
        full = stdout is not None and stdout.fault
        if full:
            give_stdout_up()
        if debug:
            raise
        status = _say(f"standard output cannot be written ({full})") if full else _explain(error)
    if status == 130:
        _say("interrupted")
    sys.exit(status)


def _log_everything() -> None:
    """Let failures that a verb survives, such as those of single pages, show where they come from."""
    import logging

    logging.basicConfig(level=logging.WARNING)
    logging.getLogger("warmwire").setLevel(logging.DEBUG)


def _say(message: str) -> int:
    print(f"warmwire: {message}", file=sys.stderr)
    return 1


def _explain(error: Exception) -> int:
    """Print what went wrong in one sentence; returns the exit status."""
    from warmwire.errors import WarmwireError

    if isinstance(error, WarmwireError):
        _say(str(error))
        return error.exit_status
    show = getattr(error, "show", None)
    if callable(show):  # an error of the parser
        if sentence := explained(error):
            _say(sentence)
        else:
            show()
        return int(getattr(error, "exit_code", 2))
    return _say(f"unexpected {type(error).__name__}: {error} (--debug shows where)")
