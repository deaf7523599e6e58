"""What models have answered in a run, kept beside its output until that is whole, so that no page is read twice.

One line a page: a checksum and JSON, appended and flushed to the disk before the run goes on. A run that is cut off, by
Ctrl-C, `kill -9`, a full disk or a lost host, leaves all whole lines behind, and perhaps a torn one, which is passed
over. The next run finds a page by its key: a digest of its pixels and of who was asked, so that a renamed file is known
and a changed page is not. Structure and output are made anew from the answers, which costs little.

Runs that write to one folder share a journal. Each document is marked when its result is written; the journal goes when
a run has ended, no other uses it, and nothing in it waits for a mark: a run over other files that was cut off does.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from warmwire.errors import (
    CancelledError,
    DialError,
    QueueFullError,
    StreamLostError,
    WarmwireError,
)
from warmwire.media.images import Image
from warmwire.system.records import append, pack, unpack

if TYPE_CHECKING:
    from warmwire.client import Recognition

_NAME: Final = "warmwire-journal"

_PASSING: Final = (CancelledError, DialError, QueueFullError, StreamLostError)
"""Failures that are not the page's: it is asked again in the next run."""


class KeptAnswer(msgspec.Struct, omit_defaults=True):
    """What came of one question: an answer, or why there was none and what had arrived of it."""

    text: str = ""
    backend: str = ""
    report: dict[str, Any] = {}
    error: str = ""


class _Entry(msgspec.Struct, omit_defaults=True):
    """One line: the answers for a page of `document`, or that the document is `done`."""

    document: str
    key: str = ""
    whole: bool = True
    answers: list[KeptAnswer] = []
    done: bool = False


def journal_path(output: Path, *, is_folder: bool) -> Path:
    """Where the journal of a run lies that writes to a folder, or to one file."""
    return output / f".{_NAME}" if is_folder else output.with_name(f".{output.name}.{_NAME}")


class Journal:
    """The journal at `path`; `asked` says who answers and how: other answers are not this run's.

    With `retry`, pages that were not read as a whole are forgotten. With `brief`, all pages are whenever no document
    waits: for runs that do not end. It may be used from several threads.
    """

    def __init__(self, path: Path, asked: str, *, retry: bool = False, brief: bool = False) -> None:
        self.path = path
        self._asked = asked.encode(errors="surrogateescape")
        self._retry = retry
        self._brief = brief
        self._file: int | None = None
        self._torn = False
        self._places: dict[str, tuple[int, int]] = {}
        self._open: dict[str, set[str]] = {}
        """Documents that are not marked as done, and the keys of their pages."""
        self._taken: dict[str, str] = {}
        """By key of a page that was found here: the document of this run that it is part of."""
        self._whole: set[str] = set()
        self._turn = threading.Lock()
        if path.exists():
            self._attach()

    def key(self, image: Image) -> str:
        """What a page is known by."""
        height, width = image.shape[:2]
        digest = blake2b(b"%s\0%d\0%d\0" % (self._asked, width, height), digest_size=16)
        digest.update(np.ascontiguousarray(image).data.cast("B"))
        return digest.hexdigest()

    def find(self, key: str) -> list[KeptAnswer] | None:
        """What was answered for a page, None where nothing is known."""
        with self._turn:
            place = self._places.get(key)
            if place is None or self._file is None:
                return None
            entry = _decode(os.pread(self._file, place[1], place[0]))
            return entry.answers if entry is not None else None

    def take(self, document: str, key: str) -> None:
        """A page that was found is part of a document, which may have had another name when it was read."""
        with self._turn:
            self._taken[key] = document

    def waits_for(self, document: str) -> bool:
        """Whether a document was begun and is not whole."""
        return document in self._open

    def keep(self, document: str, key: str, answers: Sequence[KeptAnswer], *, whole: bool) -> None:
        """Write down what was answered for a page. Raises WarmwireError where that cannot be done."""
        with self._turn:
            self._append(_Entry(document, key, whole, list(answers)))

    def finish(self, document: str) -> None:
        """Mark a document whose result is written and whole."""
        with self._turn:
            self._whole.add(document)
            if document in self._open:
                self._append(_Entry(document, done=True))
            if self._brief and self._file is not None and not self._waits():
                self._forget(self._file)

    def _waits(self) -> bool:
        """Whether a document waits for another run: one that is not done, and has pages that no other has taken."""
        return any(self._taken.get(key) not in self._whole for keys in self._open.values() for key in keys)

    def _forget(self, file: int) -> None:
        if _locked(file, fcntl.LOCK_EX | fcntl.LOCK_NB):
            os.ftruncate(file, 0)
            for known in (self._places, self._open, self._taken, self._whole):
                known.clear()
            _locked(file, fcntl.LOCK_SH)

    def close(self, *, complete: bool) -> None:
        """End the run, `complete` if all its documents were come to. The file goes if it has nothing for another."""
        with self._turn:
            if self._file is None:
                return
            if complete and _locked(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB):
                self._learn_all()
                if not self._waits():
                    with suppress(FileNotFoundError):
                        self.path.unlink()
            os.close(self._file)
            self._file = None

    def _attach(self) -> None:
        """Open the file, or make it, and learn what is in it."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            while self._file is None:
                file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
                _locked(file, fcntl.LOCK_SH)
                if os.fstat(file).st_nlink:  # else who used it before has just removed it
                    self._file = file
                else:
                    os.close(file)
            self._learn_all()
        except OSError as error:
            raise self._fault(error) from None

    def _learn_all(self) -> None:
        """Learn what is in the file, also what others have written there."""
        assert self._file is not None
        self._open.clear()
        start = 0
        with open(self._file, "rb", closefd=False) as stream:
            stream.seek(0)
            for line in stream:
                self._torn = not line.endswith(b"\n")
                self._learn(start, line)
                start += len(line)

    def _learn(self, start: int, line: bytes) -> None:
        entry = _decode(line)
        if entry is None:
            return
        if entry.done:
            self._open.pop(entry.document, None)
            return
        self._open.setdefault(entry.document, set()).add(entry.key)
        if entry.whole or not self._retry:
            self._places[entry.key] = start, len(line)

    def _append(self, entry: _Entry) -> None:
        try:
            data = msgspec.json.encode(entry)
        except (TypeError, ValueError, OverflowError, RecursionError):
            return  # a model of the caller's own may report what no JSON can hold; its page is read again
        line = pack(data)
        if self._file is None:
            self._attach()
        assert self._file is not None
        written = b"\n" + line if self._torn else line
        try:
            self._torn = True
            append(self._file, written)
            self._torn = False
        except OSError as error:
            raise self._fault(error) from None
        self._learn(os.lseek(self._file, 0, os.SEEK_CUR) - len(line), line)

    def _fault(self, error: OSError) -> WarmwireError:
        return WarmwireError(
            f"{self.path}: cannot be written ({error.strerror or error}), so what is read would be lost if this run"
            " were cut off; it ends here, and the same call goes on from here once that is mended"
        )


class Recorder:
    """Asks, and remembers what was answered."""

    def __init__(self, ask: Callable[[Image], Recognition]) -> None:
        self._ask = ask
        self.answers: list[KeptAnswer] = []
        self.lasting = True
        """Whether asking again would give the same."""

    def __call__(self, image: Image) -> Recognition:
        try:
            answer = self._ask(image)
        except WarmwireError as error:
            self.lasting = self.lasting and not isinstance(error, _PASSING)
            self.answers.append(KeptAnswer(error.partial, error=str(error) or type(error).__name__))
            raise
        except BaseException:
            self.lasting = False
            raise
        self.answers.append(
            KeptAnswer(answer.text, answer.backend, dict(answer.report) if isinstance(answer.report, Mapping) else {})
        )
        return answer


class Replay:
    """Answers as it was answered before: the same questions come in the same order."""

    def __init__(self, answers: Sequence[KeptAnswer]) -> None:
        self._answers = iter(answers)

    def __call__(self, image: Image) -> Recognition:
        from warmwire.client import Recognition

        answer = next(self._answers, None)
        if answer is None:
            raise WarmwireError("the journal has no answer to this; remove it to read the page again")
        if answer.error:
            raise WarmwireError(f"{answer.error} (in an earlier run; --retry-failed asks again)", partial=answer.text)
        return Recognition(answer.text, answer.backend, report=answer.report)


def _decode(line: bytes) -> _Entry | None:
    """The entry of a line, None for one that is torn or damaged."""
    data = unpack(line)
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=_Entry)
    except msgspec.MsgspecError:
        return None


def _locked(file: int, how: int) -> bool:
    """Lock a file; returns whether nobody else keeps us from it. Where files cannot be locked, nobody does."""
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
