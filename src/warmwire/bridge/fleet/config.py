"""The file that says which models there are, and by what names.

    memory = "12GB"                 # of all hosts that are started from here

    [aliases]
    "gpt-4o" = "gemma"              # a name of your own for any model

    [models.gemma]
    model = "gemma-3-4b-it-Q4_K_M.gguf?ctx=16384"

It is somebody's own file, but it may be broken or the wrong one: whatever it holds, it is read or refused in one
sentence that names the place.
"""

from __future__ import annotations

import math
import os
import re
import stat
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import msgspec

from warmwire.errors import InputError, UsageError
from warmwire.system.text import printable
from warmwire.transport.paths import Surface, check_path, default_directory, surface_addr

KEEP_ALIVE: Final = 600.0
"""Seconds without a request after which a model is unloaded that says nothing of it; one that is preloaded stays."""

_FILE: Final = "models.toml"
_MOST_BYTES: Final = 1 << 20
_MOST_MODELS: Final = 256
_LONGEST: Final = 365 * 86400.0
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DURATION: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(s|m|h|d)?")
_SECONDS: Final = {None: 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SIZE: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(MB|MiB|GB|GiB|TB|TiB)")
_BYTES: Final = {"MB": 10**6, "MiB": 1 << 20, "GB": 10**9, "GiB": 1 << 30, "TB": 10**12, "TiB": 1 << 40}
_PLACE: Final = re.compile(r"(.*) - at `\$(.*)`", re.DOTALL)
_MESSAGE: Final = 300

_T = TypeVar("_T")
_Few = Annotated[int, msgspec.Meta(ge=1, le=64)]


@dataclass(frozen=True)
class Declared:
    """A model that is started when it is asked for. `keep_alive` is seconds, None for ever."""

    name: str
    model: str
    folder: Path
    """Where a relative path of a model begins."""

    socket: str
    workers: int = 1
    parallel: int = 1
    keep_alive: float | None = KEEP_ALIVE
    preload: bool = False


@dataclass(frozen=True)
class Settings:
    """What a file says. `memory` is bytes, None for any number."""

    models: Mapping[str, Declared] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    memory: int | None = None


class _ModelsFile(msgspec.Struct, forbid_unknown_fields=True):
    models: dict[str, Any] = msgspec.field(default_factory=dict)
    aliases: dict[str, str] = msgspec.field(default_factory=dict)
    memory: str | None = None


class _Model(msgspec.Struct, forbid_unknown_fields=True):
    model: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    workers: _Few = 1
    parallel: _Few = 1
    keep_alive: str | int | float | None = None
    preload: bool = False


def default_config() -> Path:
    """Where the file is unless another is named: in the user's folder of settings, as the system has it."""
    if (base := os.environ.get("XDG_CONFIG_HOME", "")) and os.path.isabs(base):
        return Path(base) / "warmwire" / _FILE
    home = Path(os.path.expanduser("~"))
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "warmwire" / _FILE
    return home / ".config" / "warmwire" / _FILE


def load_settings(path: Path | None = None) -> Settings:
    """What a file says; of the default one, that it need not be there. Raises InputError, UsageError."""
    if path is None and not default_config().exists():
        return Settings()
    path = path or default_config()
    return read_settings(_text(path), path)


def read_settings(text: str, path: Path) -> Settings:
    """The settings in a file's text. Raises UsageError that names the file and the place in it."""
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no TOML: {printable(str(error), _MESSAGE) or 'it is nested too deeply'}") from None
    try:
        file = _convert(table, _ModelsFile, "")
        if len(file.models) > _MOST_MODELS:
            raise _Wrong(f"models: {len(file.models)} of them, at most {_MOST_MODELS} may be declared")
        models = {name: _declared(name, given, path) for name, given in file.models.items()}
        _check_aliases(file.aliases, models)
        return Settings(models, file.aliases, None if file.memory is None else _size(file.memory))
    except _Wrong as error:
        raise UsageError(f"{path}: {printable(str(error), _MESSAGE)}") from None


class _Wrong(Exception):
    """What is wrong in a file, and where."""


def _text(path: Path) -> str:
    """Raises InputError for what cannot be read, and for what would never end."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError(f"{path} is not a file")
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path} is larger than {_MOST_BYTES >> 20} MiB, which no file of models is")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no UTF-8 text (byte {error.start})") from None


def _convert(value: Any, kind: type[_T], place: str) -> _T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        found = _PLACE.fullmatch(str(error))
        what, where = (found[1], found[2]) if found else (str(error), "")
        raise _Wrong(f"{(place + where).lstrip('.') or 'the file'}: {what[:1].lower()}{what[1:]}") from None


def _declared(name: str, given: Any, path: Path) -> Declared:
    place = f"models.{name}"
    if not _NAME.fullmatch(name):
        raise _Wrong(f"{place}: a name is up to 64 letters, digits and . _ -; give others as aliases")
    entry = _convert(given, _Model, place)
    if "\0" in entry.model:
        raise _Wrong(f"{place}.model: a name holds no NUL")
    kept = None if entry.preload else KEEP_ALIVE
    if entry.keep_alive is not None:
        kept = _duration(entry.keep_alive, f"{place}.keep_alive")
    model = str(Path(entry.model).expanduser()) if entry.model.startswith("~/") else entry.model
    folder = path.absolute().parent
    return Declared(name, model, folder, _socket(name, place), entry.workers, entry.parallel, kept, entry.preload)


def _socket(name: str, place: str) -> str:
    """The socket of a declared model: beside those of the user's other hosts, so that everybody finds it."""
    path = str(default_directory() / f"{name}.sock")
    if is_beside(path):
        raise _Wrong(f"{place}: the socket of that name is another host's; choose another name")
    try:
        for surface in Surface:
            check_path(surface_addr(path, surface))
    except UsageError as error:
        raise _Wrong(f"{place}: {error}") from None
    return path


def is_beside(path: str) -> bool:
    """Whether a path is, or belongs to, the default host's, or is of another surface than generation."""
    name = os.path.basename(path)
    surfaces = [surface.removeprefix("infer.") for surface in Surface if surface is not Surface.GENERATION]
    return name in list(Surface) or name.endswith(tuple(f".{surface}" for surface in surfaces))


def _check_aliases(aliases: Mapping[str, str], models: Mapping[str, Declared]) -> None:
    for name, meant in aliases.items():
        if not name or not meant:
            raise _Wrong("aliases: a name and what it stands for are not empty")
        if name in models:
            raise _Wrong(f"aliases.{name}: there is a model of that name")
        if meant in aliases:
            raise _Wrong(f"aliases.{name}: {meant} is an alias itself; name the model")


def _duration(given: str | int | float, place: str) -> float | None:
    """Seconds; None for ever."""
    if given == "forever":
        return None
    if isinstance(given, str):
        found = _DURATION.fullmatch(given.strip())
        seconds = float(found[1]) * _SECONDS[found[2]] if found else math.nan
    else:
        seconds = given
    if not 0 <= seconds <= _LONGEST:
        raise _Wrong(f'{place}: {given!r} is no time; write seconds, "30s", "10m", "2h", "1d" or "forever"')
    return float(seconds)


def _size(given: str) -> int:
    found = _SIZE.fullmatch(given.strip())
    if found is None or not float(found[1]):
        raise _Wrong(f'memory: {given!r} is no size; write "900MB", "12GB" or "12GiB"')
    return int(float(found[1]) * _BYTES[found[2]])
