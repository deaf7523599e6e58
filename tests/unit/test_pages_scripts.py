"""Reading by tesseract: which language is taken, and what is believed. The tesseract here is a script of this test."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cv2")

from warmwire.errors import UsageError
from warmwire.layout.mirror import is_leftward, mirror_of, mirrored
from warmwire.layout.page import Box, Line
from warmwire.models.pages import scripts
from warmwire.models.pages.geometry import Frame
from warmwire.models.pages.reader import Sight, elements_of
from warmwire.models.pages.scripts import LANGUAGES, OtherScripts, found_languages

FAKE = """#!{python}
import sys
words = sys.argv[1:]
if words == ["--list-langs"]:
    print("List of available languages (4):", "eng", "osd", "rus", "ell", sep="\\n")
elif "--psm" in words and words[words.index("--psm") + 1] == "0":
    print("Script: {script}")
else:
    language = words[words.index("-l") + 1]
    for page, file in enumerate(open(words[0]).read().split(), 1):
        for n, (text, sure) in enumerate({says}[language]):
            print(5, page, 1, 1, 1, n + 1, 12 + 100 * n, 12, 80, 48, sure, text, sep="\\t")
"""


def tesseract(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str, **says: list[tuple[str, float]]) -> None:
    path = folder / "tesseract"
    path.write_text(FAKE.format(python=sys.executable, script=script, says=repr(says)))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


CROPS = [np.full((48, width, 3), 255, np.uint8) for width in (400, 800, 200)]
RUSSIAN = [("Старая", 95.0), ("гавань", 85.0)]


def test_lines_are_read_in_the_language_of_their_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tesseract(tmp_path, monkeypatch, "Cyrillic", rus=RUSSIAN, ell=[("Πολύ", 99.0)])
    assert found_languages() == ["rus", "ell"]
    lines = OtherScripts()(CROPS)
    assert [line and line.text for line in lines] == ["Старая гавань"] * 3
    assert lines[0] is not None
    assert lines[0].language == "rus"
    assert lines[0].confidence == pytest.approx(0.9)
    assert lines[0].spans == (pytest.approx((0.0, 0.2)), pytest.approx((0.25, 0.45)))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("Latin", RUSSIAN),
        ("Cyrillic", [("Старая", 40.0)]),
        ("Cyrillic", [("Staraya", 95.0), ("гав", 95.0)]),
        ("Cyrillic", []),
        ("Cyrillic", [("--", 95.0)]),
    ],
)
def test_what_is_unsure_or_of_another_script_stays_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: list[tuple[str, float]]
) -> None:
    tesseract(tmp_path, monkeypatch, script, rus=words, ell=words)
    assert OtherScripts()(CROPS) == [None] * 3


def test_without_a_tesseract_or_with_a_broken_one_nothing_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found_languages() == []
    assert OtherScripts()(CROPS) == [None] * 3
    (tmp_path / "tesseract").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "tesseract").chmod(0o755)
    assert OtherScripts("rus")(CROPS) == [None] * 3


def test_every_range_of_letters_is_one() -> None:
    for letters, languages in LANGUAGES.values():
        assert re.compile(f"[{letters}]")
        assert languages


def test_a_page_from_right_to_left_is_seen_in_a_mirror() -> None:
    line = Line(Box(10, 0, 30, 5), "שלום עולם", angle=2.0)
    assert is_leftward([line, Line(Box(0, 0, 1, 1), "Latin")])
    assert not is_leftward([Line(Box(0, 0, 1, 1), "mostly Latin letters"), line])
    assert not is_leftward([])
    mirror = mirror_of(100.0)
    assert mirrored(line, mirror).box == Box(70, 0, 90, 5)
    assert mirror(mirrored(line, mirror).box) == line.box


def rtl(text: str, right: float, left: float, top: float) -> Line:
    return Line(Box(left, top, right, top + 22), text, 0.9, 22.0)


def test_paragraphs_and_columns_from_right_to_left_are_whole_and_in_order() -> None:
    """Two columns, the right one first; paragraphs are indented at the right and end early at the left."""
    texts, lines = {}, []
    for right, word in ((900.0, "ימין"), (460.0, "שמאל")):
        for n in range(8):
            first, last = n in (0, 4), n in (3, 7)
            name = f"{word}{'אבגדהוזח'[n]}"
            texts[word, n] = f"ספרנו {name} כל פנס." if last else f"ספרנו {name} כל פנס ליד הנמל הישן ורשמנו"
            lines.append(rtl(texts[word, n], right - 30 * first, right - (180 if last else 400), 100 + 30 * n))
    sight = Sight(Frame(0, 0.0, 960, 600), lines, [], [], 0)
    elements = [element for chunk in elements_of(sight) for element in chunk]
    assert [element.text for element in elements] == [
        " ".join(texts[word, n] for n in part) for word in ("ימין", "שמאל") for part in (range(4), range(4, 8))
    ]
    assert elements[0].box is not None
    assert (elements[0].box.left, elements[0].box.right) == (500.0, 900.0)


@pytest.mark.parametrize(
    ("hint", "installed", "said"),
    [
        ("rus,heb", {"rus", "heb", "osd"}, ""),
        ("rus+xx", {"rus", "heb", "osd"}, "lang rus+xx: tesseract has no xx here; it has heb, rus"),
        ("rus", set(), "lang rus: needs tesseract: apt install"),
    ],
)
def test_languages_that_tesseract_lacks_are_named(
    monkeypatch: pytest.MonkeyPatch, hint: str, installed: set[str], said: str
) -> None:
    monkeypatch.setattr(scripts, "_installed", lambda: installed)
    if said:
        with pytest.raises(UsageError, match=re.escape(said)):
            scripts.check_languages(hint)
    else:
        scripts.check_languages(hint)
