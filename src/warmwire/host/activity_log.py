"""The activity log: what a host did, one JSON object a line, in a file that does not grow for ever.

    {"t":"2026-05-01T12:00:00.123Z","level":"info","component":"activity","msg":"request_done","surface":"generation",...}

It tells who asked, how much and how long it took, never what was asked or answered: error messages, which may quote a
client's words, stay out as well. Nothing is logged unless a directory is given. A file of 16 MiB makes way for a new
one, and three old ones are kept. What cannot be written is lost; a full disk must not stop a host.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Final, cast

from warmwire.errors import InputError

_MAX_BYTES: Final = 16 << 20
_OLD_FILES: Final = 3
_LONGEST: Final = 500
"""Characters of one value; ids are as long as clients make them."""

_HIDDEN: Final = "[REDACTED]"
_SECRETS: Final = (
    (re.compile(r"(?i)\b((?:proxy-)?authorization\W{1,4}(?:(?:bearer|basic|token)\s+)?)[^\s\"',;]+"), rf"\1{_HIDDEN}"),
    (re.compile(r"(?i)\b(bearer\s+)[\w.~+/=-]{8,}"), rf"\1{_HIDDEN}"),
    (
        re.compile(
            r"(?i)((?:api|access|private)[_-]?key|token|secret|passw(?:or)?d|pwd)([\"']?\s*[:=]\s*[\"']?)[^\s\"',;&]+"
        ),
        rf"\1\2{_HIDDEN}",
    ),
    (re.compile(r"(\w://[^\s/:@]*:)[^\s/@]+@"), rf"\1{_HIDDEN}@"),
    (
        re.compile(
            r"\b(?:eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?|sk-[\w-]{8,}|xox[a-z]-[\w-]+|gh[a-z]_\w{8,}|github_pat_\w+"
            r"|\w*pat-[\w-]{8,}|(?:AKIA|ASIA)[A-Z0-9]{12,})"
        ),
        _HIDDEN,
    ),
)

_log: Final = logging.getLogger("warmwire.activity")
_log.propagate = False  # events are for the file; what people should read is logged as warmwire.host
_log.setLevel(logging.CRITICAL)


def record(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log one event. Costs next to nothing while no log is open."""
    if _log.isEnabledFor(level):
        _log.log(level, event, extra={"fields": fields})


def redact(text: str) -> str:
    """Text without what looks like a key, a password or a token."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


@contextmanager
def activity_log(directory: str | os.PathLike[str] | None, name: str, most: int = _MAX_BYTES) -> Iterator[None]:
    """Log to `directory`/`name`.ndjson inside the block; None logs nothing. Raises InputError for a bad directory.

    A file of `most` bytes is put aside, and a new one begun.
    """
    if directory is None:
        yield
        return
    handler = _open(Path(directory), name, most)
    loggers = (_log, logging.getLogger("warmwire"))
    for logger in loggers:
        logger.addHandler(handler)
    _log.setLevel(logging.INFO)
    try:
        yield
    finally:
        _log.setLevel(logging.CRITICAL)
        for logger in loggers:
            logger.removeHandler(handler)
        handler.close()


def _open(directory: Path, name: str, most: int) -> logging.Handler:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = _File(directory / f"{name}.ndjson", maxBytes=most, backupCount=_OLD_FILES, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{directory}: no log can be written there ({error.strerror or error})") from None
    handler.setLevel(logging.INFO)  # what --debug shows may quote a client's words
    handler.setFormatter(_Lines())
    return handler


class _File(RotatingFileHandler):
    """Readable by its owner alone; never follows a link that somebody put in its place."""

    def _open(self) -> TextIOWrapper:
        def opener(path: str, flags: int) -> int:
            return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)

        return cast(TextIOWrapper, open(self.baseFilename, self.mode, encoding=self.encoding, opener=opener))

    def handleError(self, record: logging.LogRecord) -> None:
        """A line that cannot be written is lost."""


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {
            "t": time.removesuffix("+00:00") + "Z",
            "level": record.levelname.lower(),
            "component": record.name.removeprefix("warmwire."),
            "msg": _safe(record.getMessage()),
        }
        fields: dict[str, Any] = getattr(record, "fields", {})
        line.update((key, _safe(value)) for key, value in fields.items() if value is not None)
        return json.dumps(line, default=str, separators=(",", ":"))


def _safe(value: Any) -> Any:
    return redact(value[:_LONGEST]) if isinstance(value, str) else value
