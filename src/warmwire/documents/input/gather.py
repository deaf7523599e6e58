"""Which documents a call means: files, folders, patterns and URLs, and what the result of each is called.

A folder stands for the documents in it and below, told by their suffix, hidden ones aside; a pattern is for where no
shell has put its matches in its place. Below a folder of results, those of a folder keep their path in it. Results that
would share a name keep as much more of their own as tells them apart: first their suffix, then their folders.
"""

from __future__ import annotations

import glob
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import Final

from warmwire.documents.input.urls import scheme_of
from warmwire.documents.output.formats import SUFFIX
from warmwire.errors import InputError, UsageError

STDIN: Final = "-"

DOCUMENTS: Final = (
    ".pdf", ".png", ".jpg", ".jpeg", ".jpe", ".tif", ".tiff", ".webp", ".gif", ".bmp", ".heic", ".heif",
)  # fmt: skip
"""Suffixes of what is taken from a folder; a file that is named itself may be called anything."""

_WILD: Final = "*?["


@dataclass(frozen=True, slots=True)
class Input:
    """A document to read: how to open it, and where its result goes below a folder of results, without its suffix."""

    path: str
    place: PurePath

    @classmethod
    def of(cls, path: str) -> Input:
        """A single input."""
        return cls(path, PurePath(_name(path)).with_suffix(""))

    def at(self, place: PurePath) -> Input:
        """The same document with its result elsewhere."""
        return Input(self.path, place)


def gather(
    words: Sequence[str], *, exclude: Sequence[str] = (), apart: Sequence[Path] = (), once: bool = False
) -> tuple[list[Input], list[str]]:
    """The documents that the words of a command line mean, in order, and a sentence for each word that means none.

    Left out is what matches a pattern of `exclude` with its name, its path below the folder it was found in, or a
    folder's name on that path, and what lies in a folder of `apart`. `once` leaves a file out that was there already.

    Raises UsageError for a word that can only be meant as the place of a result.
    """
    _check_words(words)
    found: list[tuple[str, PurePath]] = []
    problems = []
    for word in words:
        try:
            found += [pair for pair in _meant(word, apart) if not _is_excluded(pair[1], exclude)]
        except InputError as error:
            problems.append(str(error))
    if once:
        found = list({_real(path): (path, below) for path, below in reversed(found)}.values())[::-1]
    return [Input(path, place) for (path, _), place in zip(found, _places(found), strict=True)], problems


def is_pipe(path: str) -> bool:
    """Whether an input is filled by somebody who may take their time, and can be read once only."""
    try:
        return path == STDIN or Path(path).is_fifo()
    except (OSError, ValueError):  # opening it says what is wrong
        return False


def _check_words(words: Sequence[str]) -> None:
    """Raise UsageError where the last word is no input but where somebody wants the result."""
    last = words[-1]
    if len(words) < 2 or last == STDIN or os.path.lexists(last) or scheme_of(last):
        return
    suffix = PurePath(last).suffix.lower()
    if last.endswith(os.sep) or (suffix in SUFFIX.values() and suffix not in DOCUMENTS):
        raise UsageError(f"{last} does not exist; if the result is to go there, put -o before it: -o {last}")


def _meant(word: str, apart: Sequence[Path]) -> Iterator[tuple[str, PurePath]]:
    """The files that a word means, each with its path below the folder that was given, or its name."""
    if word == STDIN or scheme_of(word) or not any(sign in word for sign in _WILD) or os.path.lexists(word):
        yield from _walk(word, apart) if _is_folder(word) else [(word, PurePath(_name(word)))]
        return
    matches = sorted(glob.glob(word, recursive=True))
    any_file = not any(sign in PurePath(word).suffix for sign in _WILD) and PurePath(word).suffix
    files = 0
    for match in matches:
        if os.path.isdir(match):
            if "**" not in word:  # which has found what is in it already
                for path, below in _walk(match, apart):
                    files += 1
                    yield path, PurePath(Path(match).name) / below
        elif any_file or _is_document(match):
            files += 1
            yield match, PurePath(match).relative_to(_fixed(word))
    if not files:
        raise InputError(f"{word}: no document matches")


def _fixed(pattern: str) -> PurePath:
    """The folder that a pattern starts from."""
    parts = PurePath(pattern).parts
    wild = next(i for i, part in enumerate(parts) if any(sign in part for sign in _WILD))
    return PurePath(*parts[:wild])


def _walk(folder: str, apart: Sequence[Path]) -> Iterator[tuple[str, PurePath]]:
    def failed(error: OSError) -> None:
        raise InputError(f"{error.filename}: cannot be read ({error.strerror})") from None

    files = 0
    closed = {path.resolve() for path in apart} - {Path(folder).resolve()}
    for root, folders, names in os.walk(folder, onerror=failed):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and Path(root, name).resolve() not in closed
        )
        for name in sorted(names):
            if not name.startswith(".") and _is_document(name):
                files += 1
                path = os.path.join(root, name)
                yield path, PurePath(os.path.relpath(path, folder))
    if not files:
        raise InputError(f"{folder}: no document in it; those taken from a folder end in {', '.join(DOCUMENTS)}")


def _is_folder(path: str) -> bool:
    return path not in (STDIN, "") and os.path.isdir(path)


def _is_document(path: str) -> bool:
    return path.lower().endswith(DOCUMENTS)


def _is_excluded(below: PurePath, patterns: Sequence[str]) -> bool:
    ways = [str(below), *below.parts]
    return any(fnmatch(way, pattern.rstrip("/")) for pattern in patterns for way in ways)


def _name(path: str) -> str:
    """What an input is called where it has no folder."""
    if path == STDIN:
        return "stdin"
    return {"data": "data", "file": PurePath(path).name}.get(scheme_of(path)) or PurePath(path).name or "document"


def _real(path: str) -> str:
    return path if path == STDIN or scheme_of(path) else os.path.realpath(path)


def _places(found: Sequence[tuple[str, PurePath]]) -> list[PurePath]:
    """Where each result goes, no two at the same place unless their inputs are one."""
    places = [below.with_suffix("") if below.name else below for _, below in found]
    shared = defaultdict(list)
    for index, place in enumerate(places):
        shared[place].append(index)
    for group in shared.values():
        paths = {found[index][0] for index in group}
        if len(paths) > 1 and not any(path == STDIN or scheme_of(path) for path in paths):
            for index, place in zip(group, _told_apart([found[index] for index in group]), strict=True):
                places[index] = place
    taken: dict[PurePath, str] = {}
    for index, (path, _) in enumerate(found):
        count, place = 1, places[index]
        while taken.setdefault(places[index], path) != path:
            count += 1
            places[index] = place.with_name(f"{place.name}-{count}")
    return places


def _told_apart(group: Sequence[tuple[str, PurePath]]) -> list[PurePath]:
    """Places for inputs that would share one; the last way is taken even if it does not tell them apart either."""
    absolute = [PurePath(os.path.abspath(path)) for path, _ in group]
    common = os.path.commonpath([path.parent for path in absolute])
    different = len({path for path, _ in group})
    ways: list[Callable[[int], PurePath]] = [
        lambda i: group[i][1],
        lambda i: absolute[i].relative_to(common).with_suffix(""),
        lambda i: absolute[i].relative_to(common),
    ]
    places: list[PurePath] = []
    for way in ways:
        places = [way(i) for i in range(len(group))]
        if len(set(places)) == different:
            break
    return places
