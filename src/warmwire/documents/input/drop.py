"""A folder that documents are dropped into: which are whole and new, and what became of those that were read.

A document is whole when it has not changed for a second and, where the system can tell, nobody has it open to write.
What was read is written down in a ledger before it is moved, so that a run that is cut off anywhere in between finds
neither a reason to read it again nor one to leave it there. A file is known by its path, size, time and number in the
file system: the same name with other content is another document.

The folder is looked at when the system says that something happened there (by `watchfiles`, where that is installed),
and now and then in any case: what another machine writes to a shared folder is not told.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any, Final

from warmwire.documents.input.gather import Input, gather
from warmwire.errors import InputError, WarmwireError
from warmwire.system.records import append, pack, unpack

SETTLED: Final = 1.0
"""Seconds without a change after which a file is whole."""
_LOOK: Final = 1.0
"""Seconds between two looks where nothing tells of changes, or a file is not whole yet."""
_LOOK_ANYWAY: Final = 10.0

_Mark = tuple[int, int, int]
"""Size, time of the last change and number of a file."""


class DropFolder:
    """The folder `path`. With `done`, what was read is moved there, and what failed to `done/failed`. `clock` gives
    seconds."""

    def __init__(
        self,
        path: Path,
        ledger: Path,
        *,
        done: Path | None = None,
        apart: Sequence[Path] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path
        self._clock = clock
        self._done = done
        self._apart = [*apart, done] if done is not None else [*apart]
        self._ledger = ledger
        self._read: dict[str, tuple[_Mark, PurePath]] = {}
        self._seen: dict[str, tuple[_Mark, float]] = {}
        self._under_way: set[str] = set()
        self._growing = False
        self._looked = 0.0
        self._changes = _changes(path)
        if not path.is_dir():
            raise InputError(f"{path}: is no directory")
        self._learn()

    def ready(self) -> list[Input]:
        """The documents that are whole and have not been given yet. What was read already is moved, if it is to be."""
        self._looked = self._clock()
        self._growing = False
        found, _ = gather([str(self._path)], apart=self._apart)
        self._seen = {one.path: self._seen[one.path] for one in found if one.path in self._seen}
        return [one for one in found if one.path not in self._under_way and self._is_ready(one)]

    def wait(self) -> None:
        """Wait until it is worth to look again."""
        while True:
            changed = next(self._changes)
            waited = self._clock() - self._looked
            if changed or self._growing or waited > _LOOK_ANYWAY:
                return

    def begin(self, one: Input) -> None:
        """A document is being read."""
        self._under_way.add(one.path)

    def place_of(self, one: Input) -> PurePath | None:
        """Where the result of an earlier document of that path is, None where there was none."""
        known = self._read.get(self._name(one))
        return known[1] if known is not None and self._done is None else None

    def finish(self, one: Input, *, well: bool) -> None:
        """A document was read: write that down, and move it. Raises WarmwireError where that cannot be done."""
        self._under_way.discard(one.path)
        mark = file_mark(one.path)
        seen = self._seen.get(one.path)
        if mark is None or seen is None or mark != seen[0]:  # it has gone, or been replaced meanwhile
            return
        self._note({"file": self._name(one), "mark": mark, "place": str(one.place), "well": well})
        self._read[self._name(one)] = mark, one.place
        self._put_away(one, well=well)

    def _is_ready(self, one: Input) -> bool:
        mark, now = file_mark(one.path), self._clock()
        if mark is None:
            return False
        known = self._read.get(self._name(one))
        if known is not None and known[0] == mark:
            self._put_away(one, well=True)
            return False
        before, since = self._seen.get(one.path, (None, now))
        if mark != before:
            since = now
        self._seen[one.path] = mark, since
        if now - since >= SETTLED and mark[0] and not _is_written(one.path):
            return True
        self._growing = True
        return False

    def _put_away(self, one: Input, *, well: bool) -> None:
        if self._done is None:
            return
        folder = (self._done if well else self._done / "failed") / PurePath(self._name(one)).parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.move(one.path, _free(folder / Path(one.path).name))
        except OSError as error:
            raise WarmwireError(f"{one.path}: cannot be moved to {folder} ({error.strerror or error})") from None
        self._read.pop(self._name(one), None)
        self._note({"file": self._name(one), "gone": True})

    def _name(self, one: Input) -> str:
        return os.path.relpath(one.path, self._path)

    def _learn(self) -> None:
        """What the ledger says."""
        try:
            lines = self._ledger.read_bytes().splitlines(keepends=True) if self._ledger.exists() else []
        except OSError as error:
            raise InputError(f"{self._ledger}: cannot be read ({error.strerror or error})") from None
        for record in filter(None, map(unpack, lines)):
            match _decode(record):
                case {"file": str(file), "gone": True}:
                    self._read.pop(file, None)
                case {"file": str(file), "mark": [int(size), int(changed), int(number)], "place": str(place)}:
                    self._read[file] = (size, changed, number), PurePath(place)

    def _note(self, entry: dict[str, Any]) -> None:
        try:
            self._ledger.parent.mkdir(parents=True, exist_ok=True)
            with open(self._ledger, "a+b", buffering=0) as file:
                torn = file.tell() and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n"
                append(file.fileno(), (b"\n" if torn else b"") + pack(json.dumps(entry).encode()))
        except OSError as error:
            raise WarmwireError(f"{self._ledger}: cannot be written ({error.strerror or error})") from None


def _decode(record: bytes) -> Any:
    """What a record says; None for one that is no JSON, as another version may write."""
    try:
        return json.loads(record)
    except (ValueError, RecursionError):
        return None


def _changes(path: Path) -> Iterator[bool]:
    """Whether something happened in the folder, at least once in a while."""
    try:
        from watchfiles import watch
    except ImportError:
        while True:
            time.sleep(_LOOK)
            yield True
    wait = round(_LOOK * 1000)
    for changes in watch(path, watch_filter=None, debounce=200, rust_timeout=wait, yield_on_timeout=True):
        yield bool(changes)


def file_mark(path: str) -> _Mark | None:
    """What tells a file from another one of its name, and from what it was before; None where there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def _is_written(path: str) -> bool:
    """Whether somebody has a file open to write. The system grants a lease for reading only where nobody has."""
    lease = getattr(fcntl, "F_SETLEASE", None)
    if lease is None:
        return False
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.fcntl(file, lease, fcntl.F_RDLCK)
            fcntl.fcntl(file, lease, fcntl.F_UNLCK)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
    return False


def _free(path: Path) -> Path:
    """A path that nothing is at: the one given, or one with a number."""
    count, free = 1, path
    while free.exists():
        count += 1
        free = path.with_name(f"{path.stem}-{count}{path.suffix}")
    return free
