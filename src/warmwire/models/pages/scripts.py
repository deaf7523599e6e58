"""Lines in scripts that our own recogniser does not know, read by a `tesseract` found on PATH.

Such lines are told apart already: their readings explain little of their ink (see `legible`). They are given to
tesseract together, with the language data it has; nothing is ever downloaded. Which script they are in, tesseract's own
detection tells from all of them; of the languages that are written in it, the one in which a few lines read most surely
is theirs. What reads surely then, in letters of that script, is believed; all else stays unread, and is looked at once
more without the lines that were read, since a page may have two such scripts.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from warmwire.errors import UsageError
from warmwire.models.pages.detector import Pixels

_LOG: Final = logging.getLogger(__name__)

LANGUAGES: Final = {
    "Cyrillic": ("Ѐ-ԯ", "rus ukr bel bul srp mkd kaz kir tgk mon tat"),
    "Greek": ("Ͱ-Ͽἀ-῿", "ell grc"),
    "Hebrew": ("֐-׿", "heb yid"),
    "Arabic": ("؀-ۿݐ-ݿﭐ-﷿ﹰ-﻿", "ara fas urd pus uig"),
    "Korean": ("ᄀ-ᇿ㄰-㆏가-힯", "kor"),
    "Devanagari": ("ऀ-ॿ", "hin mar nep san"),
    "Thai": ("฀-๿", "tha"),
    "Armenian": ("԰-֏", "hye"),
    "Georgian": ("Ⴀ-ჿ", "kat"),
    "Bengali": ("ঀ-৿", "ben asm"),
    "Tamil": ("஀-௿", "tam"),
    "Telugu": ("ఀ-౿", "tel"),
    "Gujarati": ("઀-૿", "guj"),
    "Gurmukhi": ("਀-੿", "pan"),
    "Kannada": ("ಀ-೿", "kan"),
    "Malayalam": ("ഀ-ൿ", "mal"),
    "Sinhala": ("඀-෿", "sin"),
    "Khmer": ("ក-៿", "khm"),
    "Lao": ("຀-໿", "lao"),
    "Myanmar": ("က-႟", "mya"),
    "Ethiopic": ("ሀ-፿", "amh tir"),
}
"""By script: its letters, and tesseract's languages that are written in it."""

SAMPLE: Final = 4
"""Lines that are tried in each language."""
SURE: Final = 0.7
"""How surely one of the tried lines must read for a page to have lines in a language, and ..."""
SURE_LINE: Final = 0.55
"""... how surely a line must, to be one of them."""
OWN: Final = 0.5
"""Least share of a line's letters that are of its language's script; names and units may be Latin."""
ENOUGH: Final = 8
"""Lines that the detection of scripts is shown; fewer are shown again, as it wants a number of letters. On pages of the
tests it then told seven scripts, in whole pages and in single lines, and took none for another."""
SURE_ALONE: Final = 0.85
"""The same as `SURE` where nothing detects scripts: Latin letters have read as Thai with 0.81."""
GAP: Final = 0.27
"""Narrower white is between letters and no space, in units of the line's height: Korean and Thai come apart into
syllables, with 0.2 between them and 0.35 and more between words."""
_APART: Final = ("Korean", "Thai", "Lao", "Khmer", "Myanmar")
_WHITE: Final = 12
"""White around the picture of a line, which tesseract wants, pixels."""
_PATIENCE: Final = 60.0
"""Seconds for one call."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A line as tesseract read it: `spans` has where each word begins and ends, 0 to 1 along the line."""

    text: str
    confidence: float
    spans: tuple[tuple[float, float], ...]
    language: str


def found_languages() -> list[str]:
    """The languages of other scripts than ours that a `tesseract` on PATH has data for, in the order of `LANGUAGES`."""
    return [name for name in _known() if name in _installed()]


def check_languages(hint: str) -> None:
    """Raises UsageError where tesseract has not all languages that `hint` names."""
    installed = _installed()
    if not installed:
        raise UsageError(f"lang {hint}: needs tesseract: apt install tesseract-ocr tesseract-ocr-rus")
    if missing := [name for name in _names(hint) if name not in installed]:
        has = ", ".join(sorted(installed - {"osd"}))
        raise UsageError(f"lang {hint}: tesseract has no {', '.join(missing)} here; it has {has}")


def _names(hint: str) -> list[str]:
    return [name for name in re.split(r"[+,\s]+", hint) if name]


class OtherScripts:
    """Reads pictures of lines by tesseract. `hint` names its languages, such as "rus+ell": only these are used then."""

    def __init__(self, hint: str = "") -> None:
        self._hint = _names(hint)

    @cached_property
    def languages(self) -> list[str]:
        """What can be tried here; nothing where there is no tesseract."""
        return self._hint or found_languages()

    def __call__(self, crops: Sequence[Pixels]) -> list[Foreign | None]:
        """What each line says, None where that is in no language that is known here."""
        read: list[Foreign | None] = [None] * len(crops)
        if not crops or not self.languages:
            return read
        try:
            with tempfile.TemporaryDirectory(prefix="warmwire-") as folder:
                self._read(read, [_write(Path(folder), i, crop) for i, crop in enumerate(crops)], crops)
        except (OSError, subprocess.SubprocessError) as error:
            _LOG.warning("tesseract cannot be used: %s", error)
        return read

    def _read(self, read: list[Foreign | None], files: Sequence[Path], crops: Sequence[Pixels]) -> None:
        left = list(range(len(files)))
        while left:
            lines = self._in_one_language([files[i] for i in left], [crops[i] for i in left])
            for i, line in zip(left, lines, strict=True):
                read[i] = line if line is not None and _sureness(line) >= SURE_LINE else None
            if all(read[i] is None for i in left):
                return
            left = [i for i in left if read[i] is None]

    def _in_one_language(self, files: Sequence[Path], crops: Sequence[Pixels]) -> Sequence[Foreign | None]:
        """The lines in the language that most of them are in, nothing where they are in none."""
        detected = "osd" in _installed()
        script = _script_of(files[0].parent, crops) if detected else ""
        languages = [name for name in self.languages if not detected or _script(name) in (script, "")]
        tried = sorted(range(len(files)), key=lambda i: -crops[i].shape[1])[:SAMPLE]
        best, most = "", 0.0
        for language in languages:
            sure = [_sureness(line) for line in _tesseract([files[i] for i in tried], language)]
            if max(sure) >= (SURE if detected or self._hint else SURE_ALONE) and sum(sure) > most:
                best, most = language, sum(sure)
        return _tesseract(files, best) if best else [None] * len(files)


def _known() -> Iterator[str]:
    for script, (_, languages) in LANGUAGES.items():
        yield from languages.split()
        yield f"script/{script}"


def _script(language: str) -> str:
    """The script that a language is written in, "" for one that we do not know."""
    name = language.removeprefix("script/")
    return next((script for script, (_, names) in LANGUAGES.items() if name in (script, *names.split())), "")


def _installed() -> set[str]:
    if shutil.which("tesseract") is None:
        return set()
    try:
        return {line.strip() for line in _run(["--list-langs"]).splitlines()[1:]}
    except (OSError, subprocess.SubprocessError):
        return set()


def _write(folder: Path, index: int, crop: Pixels) -> Path:
    import cv2

    path = folder / f"{index}.png"
    cv2.imwrite(str(path), cv2.copyMakeBorder(crop, _WHITE, _WHITE, _WHITE, _WHITE, cv2.BORDER_REPLICATE))
    return path


def _script_of(folder: Path, crops: Sequence[Pixels]) -> str:
    """The script that tesseract sees in the lines, "" where it sees none."""
    import cv2

    page = np.full(
        (sum(crop.shape[0] + _WHITE for crop in crops), max(crop.shape[1] for crop in crops), 3), 255, np.uint8
    )
    top = 0
    for crop in crops:
        page[top : top + crop.shape[0], : crop.shape[1]] = crop
        top += crop.shape[0] + _WHITE
    cv2.imwrite(str(folder / "all.png"), np.vstack([page] * -(-ENOUGH // len(crops))))
    try:
        found = re.search(r"^Script: (\w+)", _run([str(folder / "all.png"), "stdout", "--psm", "0"]), re.MULTILINE)
    except subprocess.CalledProcessError:  # it sees too few letters
        return ""
    return found[1] if found else ""


def _tesseract(files: Sequence[Path], language: str) -> list[Foreign]:
    """What the pictures say in a language."""
    folder = files[0].parent
    (folder / "list").write_text("".join(f"{file}\n" for file in files))
    words: list[list[tuple[str, float, float, float]]] = [[] for _ in files]
    for row in _run([str(folder / "list"), "stdout", "--psm", "7", "-l", language, "tsv"]).splitlines():
        fields = row.split("\t")
        if len(fields) == 12 and fields[0] == "5" and fields[11].strip():
            left, width, sure = float(fields[6]), float(fields[8]), float(fields[10])
            words[int(fields[1]) - 1].append((fields[11].strip(), left, left + width, sure / 100))
    return [_line(found, _size(file), language) for found, file in zip(words, files, strict=True)]


def _line(words: Sequence[tuple[str, float, float, float]], size: tuple[int, int], language: str) -> Foreign:
    """A line of its words, with where they begin and end in a picture of that size, and how sure each is."""
    width, height = (max(1.0, side - 2.0 * _WHITE) for side in size)
    text, sure, letters = "", 0.0, 0
    spans: list[tuple[float, float]] = []
    for word, start, end, confidence in words:
        parts = sorted((start, end, *spans[-1])) if spans else []
        if parts and parts[2] - parts[1] < GAP * height and _script(language) in _APART:
            spans[-1] = (parts[0], parts[3])
        else:
            text += " "
            spans.append((start, end))
        text, sure, letters = text + word, sure + len(word) * confidence, letters + len(word)
    places = tuple((_share(start, width), _share(end, width)) for start, end in spans)
    if _script(language) == "Greek":
        text = text.replace("µ", "μ")  # the sign of a millionth, which it has for the letter
    return Foreign(text.strip(), sure / letters if letters else 0.0, places, language)


def _share(place: float, width: float) -> float:
    return min(max((place - _WHITE) / width, 0.0), 1.0)


def _size(file: Path) -> tuple[int, int]:
    """The size of a picture, from the head of its PNG file."""
    with file.open("rb") as stream:
        head = stream.read(24)
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def _sureness(line: Foreign) -> float:
    """How surely a line is in its language: as sure as its words are, if enough letters are of its script."""
    script = _script(line.language)
    letters = [char for char in line.text if char.isalpha()]
    if script and letters:
        own = re.compile(f"[{LANGUAGES[script][0]}]")
        if sum(own.match(char) is not None for char in letters) < OWN * len(letters):
            return 0.0
    return line.confidence if letters else 0.0


def _run(arguments: Sequence[str]) -> str:
    """What tesseract prints. Raises OSError, SubprocessError."""
    return subprocess.run(
        ["tesseract", *arguments],
        capture_output=True,
        check=True,
        timeout=_PATIENCE,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"OMP_THREAD_LIMIT": "1"},
    ).stdout.decode("utf-8", "replace")
