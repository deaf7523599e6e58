"""Wrong usage, in one sentence that says what to type instead.

The parser of the command line knows which word it could not place. What is likely to have been meant is known here: a
file given where a verb belongs, a question without quotes, an option that other programs have. The parser's error types
come from whichever library does the parsing, so they are told by what they carry, not by class.
"""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import PurePath
from typing import Any, Final

_VERBS: Final = {
    "convert": "ocr", "read": "ocr", "scan": "ocr", "pdf": "ocr", "start": "serve", "host": "serve", "kill": "stop",
    "list": "models", "generate": "ask", "prompt": "ask", "check": "doctor", "version": "--version",
}  # fmt: skip
"""Verbs of other programs, and what does the same here."""

_OPTIONS: Final = {
    ("ocr", "--input"): "files are given without an option",
    ("ocr", "--language"): "--lang is for scripts other than Latin, Chinese and Japanese, which need no option",
    ("ocr", "--recursive"): "a folder is read with all that is below it",
    ("ocr", "-r"): "a folder is read with all that is below it",
    ("ocr", "--workers"): "pages read at once are --jobs",
    ("serve", "--model"): "the model is given without an option",
    ("serve", "--jobs"): "requests answered at once are --workers",
    ("serve", "--port"): "a host listens on a Unix socket; `warmwire bridge --listen HOST:PORT` puts HTTP before it",
    ("ask", "--model"): "the host that answers has one model; --socket says which host",
    ("chat", "--model"): "the host that answers has one model; --socket says which host",
}  # fmt: skip
"""Options of other programs, by verb, and how the same is said here."""

_DOCUMENTS: Final = {".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".gif", ".bmp", ".heic"}
_MODELS: Final = {".gguf", ".gril"}


def explained(error: Any) -> str | None:
    """A sentence for an error of the parser; None for one that has something else to show."""
    if type(error).__name__ == "NoArgsIsHelpError":  # no mistake: it shows the help
        return None
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx is not None else "warmwire"
    verb = ctx.info_name if ctx is not None and ctx.parent is not None else ""
    message = str(error.format_message()).rstrip(".")
    option = getattr(error, "option_name", None)
    if option and message.startswith("No such option"):
        sentence = _no_option(option, verb, ctx)
    elif message.startswith("No such command"):
        sentence = _no_verb(message.split("'")[1], ctx)
    elif "unexpected extra argument" in message:
        sentence = _extra(message.rpartition("(")[2].rstrip(")"), verb)
    elif type(error).__name__ == "MissingParameter" or message.startswith("Missing "):
        sentence = f"{message[:1].lower()}{message[1:]}; {_usage(ctx)}"
    else:
        sentence = f"{message[:1].lower()}{message[1:]}"
    return f"{sentence} ({path} --help tells more)"


def _usage(ctx: Any) -> str:
    return f"usage: {ctx.command_path} {' '.join(ctx.command.collect_usage_pieces(ctx))}"


def _no_verb(word: str, ctx: Any) -> str:
    verbs = list(ctx.command.commands)
    suffix = PurePath(word).suffix.lower()
    if suffix in _DOCUMENTS or (os.path.isfile(word) and suffix not in _MODELS):
        return f"{word} is no verb; to read it: warmwire ocr {word}"
    if suffix in _MODELS:
        return f"{word} is no verb; to serve it: warmwire serve {word}"
    meant = _VERBS.get(word.lower()) or next(iter(difflib.get_close_matches(word.lower(), verbs, 1)), None)
    if meant:
        return f"there is no verb {word!r}; did you mean: warmwire {meant}"
    return f"there is no verb {word!r}; there are {', '.join(verbs)}"


def _no_option(option: str, verb: str, ctx: Any) -> str:
    refusal = f"{verb} has no option {option}" if verb else f"there is no option {option}"
    if file := next((word for word in sys.argv[1:] if word.startswith(option) and os.path.exists(word)), None):
        return f"{refusal}; the file of that name is given as {os.path.join(os.curdir, file)}"
    if (verb, option) in _OPTIONS:
        return f"{refusal}: {_OPTIONS[verb, option]}"
    if option in ("-v", "--verbose"):
        return f"{refusal}: what happens is told on stderr, and --debug shows where errors come from"
    known = [name for param in ctx.command.get_params(ctx) for name in (*param.opts, *param.secondary_opts)]
    meant = difflib.get_close_matches(option, [name for name in known if name.startswith("--")], 1)
    return refusal + (f"; did you mean {meant[0]}?" if meant else "")


def _extra(words: str, verb: str) -> str:
    if verb == "ask":
        return 'ask takes one text: put the question in quotes, as in: warmwire ask "What is this?"'
    if verb == "chat":
        return f"chat takes no words; to ask one question: warmwire ask {words!r}"
    return f"{words!r} is more than {verb or 'warmwire'} takes; a text with spaces goes in quotes"
