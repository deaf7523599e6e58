"""Routing, text quality and page selections."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warmwire.client import UsageError
from warmwire.documents.input.open import open_source
from warmwire.documents.input.prints import is_print
from warmwire.documents.input.quality import SURE, TRUSTED, text_quality
from warmwire.documents.input.source import PageText
from warmwire.documents.reading.record import Route
from warmwire.documents.reading.route import route
from warmwire.documents.reading.selection import select_pages
from warmwire.layout.page import Box, Line

DATA = Path(__file__).parents[1] / "data" / "documents"
PROSE = "The keeper of the harbour office counted the ships and wrote their names into the book again. " * 3


def test_each_page_is_routed_for_its_own_reason() -> None:
    source = open_source(str(DATA / "routes.pdf"))
    decisions = [route(source.page(index).text()) for index in range(len(source))]
    assert [decision[0].value for decision in decisions] == [
        "file", "model", "model", "model", "file", "file", "model", "file", "model",
    ]  # fmt: skip
    for index, words in (
        (0, "covers 13%"),
        (1, "no visible text"),
        (2, "1 line"),
        (3, "hidden"),
        (5, "nothing"),
        (6, "trusted"),
    ):
        assert words in decisions[index][1]


def test_little_text_is_enough_where_it_is_all_there_is() -> None:
    source = open_source(str(DATA / "short.pdf"))
    decisions = [route(source.page(index).text()) for index in range(len(source))]
    assert [decision[0].value for decision in decisions] == ["file", "file", "model", "model"]
    assert "picture of print" in decisions[2][1]
    assert "curves may be letters" in decisions[3][1]


def test_margins_and_marks_neither_turn_a_page_nor_send_it_away() -> None:
    source = open_source(str(DATA / "angles.pdf"))
    for index, angle, words in ((0, -90, "Sent to"), (1, -90, "Sent to"), (2, -45, "DRAFT"), (3, 0, "Turned around")):
        text = source.page(index).text()
        assert (route(text)[0], text.turn) == (Route.FILE, 0)
        (line,) = [line for line in text.lines if line.text.startswith(words)]
        assert line.angle == angle
        assert all(other.angle == 0 for other in text.lines if other is not line)


def test_letters_one_below_the_other_are_a_line() -> None:
    lines = open_source(str(DATA / "downwards.pdf")).page(0).text().lines
    assert [line.text for line in lines] == ["港務局の書記は", "船を数えた", "港の日誌", "三", "四月"]
    assert all(line.angle == 0 for line in lines)


def test_print_is_told_from_photos() -> None:
    page = np.full((240, 240, 3), 245, np.uint8)
    page[::12, 20:220:3] = page[1::12, 21:220:3] = 30
    assert is_print(page)
    assert not is_print(np.full((240, 240, 3), 250, np.uint8))
    ramp = np.linspace(0, 255, 240).astype(np.uint8)
    photo = np.stack([ramp[np.newaxis, :].repeat(240, 0)] * 3, axis=2)
    photo[100:140, 60:180] = photo[100:140, 60:180] // 3
    assert not is_print(photo)
    assert not is_print(np.zeros((3, 3, 3), np.uint8))


def test_a_font_without_meaning_goes_to_the_model() -> None:
    right, moved = (open_source(str(DATA / "nameless.pdf")).page(index).text() for index in (0, 1))
    assert (route(right)[0], right.lines[0].text) == (Route.FILE, "HARBOUR OFFICE LOG BOOKS OF SHIPS")
    assert moved.quality < TRUSTED
    assert route(moved)[0] is Route.MODEL


def test_force_and_threshold_overrule() -> None:
    full, scan = PageText(lines=[Line(Box(0, 0, 1, 1), "x")], coverage=0.4), PageText(largest_image=1.0)
    assert route(full, force=True) == (Route.MODEL, "forced")
    assert route(scan, threshold=0)[0] is Route.FILE
    part = PageText(lines=full.lines, coverage=0.4, largest_image=0.5, printed=0.5)
    assert route(part, threshold=0.5)[0] is Route.MODEL
    assert route(full, threshold=0.5)[0] is Route.FILE
    assert route(full)[0] is Route.FILE


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "Le garçon a mangé l'œuf où l'été; ça va très bien à Noël, dit-elle, et il l'a même répété hier.",
        "Żółw i źdźbło: pchnąć w tę łódź jeża lub ośm skrzyń fig, a potem wrócić do domu przed nocą.",
        "港務局的書記數了船隻,把它們的名字寫進書裡。" * 3,
        "Смотритель портовой конторы пересчитал корабли и записал их имена в книгу.",
        "PN 4711-B  12,50  3.1415  A4  ISO 9001:2015  $1,200.00  2026-11-29  +49 30 1234",
        "if x < 3 && y > 2 { return a[i]; } // 100 % done; foo_bar(baz) -> qux; #define MAX 10",
        "Kaikki laivat, jotka satama oli laskenut, merkittiin kirjaan ennen kuin jäät tulivat ja merenkulku päättyi.",
        "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, aliam Aquitani, tertiam qui ipsorum.",
        "A kikötő írnoka megszámolta a hajókat, és nevüket beírta a könyvbe, mielőtt a jég elzárta volna a folyót.",
        "Người thư ký của bến cảng đếm những con tàu và ghi tên của chúng vào trong cuốn sổ trước khi trời tối hẳn.",
        "Doltren Caspibar Umbrelio Sandviko Tarnolf Esmerinda Polvick Garmenio Wistelbo Ranquilda Hostrevy " * 2,
        "",
    ],
)
def test_real_text_is_trusted(text: str) -> None:
    assert text_quality(text) >= 0.8


@pytest.mark.parametrize(
    "text",
    [
        "\ufffd" * 6 + "a" * 94,
        "/gid00012/gid00034 /gid00056 and /gid00078",
        "GLYPH<c=3,font=/ABCDEF+F1> GLYPH(cmap:df00) word",
        "(cid:12)(cid:13)(cid:14) text (cid:15)",
        "Qwz xkcd pfft hrgl brrm tsk zzx ghfr wrtp nlkm " * 2,
        "Iqw l77I~k x~zz~w vwx~q;lq jqj wvw zx1jj|w x;qvkj|| l7 q~q~|1zkw ~k~q;~qz lvl;7x~1 |vz1vq7 w1vql~",
        "\ue001\ue002\ue003 \uf0b7\uf0a7",
        "Wkh nhhshu ri wkh kduerxu riilfh frxqwhg wkh vklsv dqg zurwh wkhlu qdphv lqwr wkh errn djdlq.",
        "a\x01b\x03c\x04",
    ],
)
def test_garbage_is_not_trusted(text: str) -> None:
    assert text_quality(text) <= TRUSTED


def test_characters_without_a_meaning_count_where_they_are_no_words() -> None:
    assert text_quality(PROSE, unmapped=len(PROSE) // 5) == 1.0
    assert text_quality("QX7 ZK-4 " * 9, unmapped=20) < TRUSTED


@pytest.mark.parametrize(
    "text",
    [
        "PN XKA4711 QRE-88B FZA WQE NPT BSP HEX SKT CRV GRN BLK WHT YEL ORA AMB TOP LOW " * 3,
        "BRCA TPMT CYP VKORC SLCO HLA DPYD UGT NUDT CFTR IFNL RYR CACNA MTRNR ACE APOE " * 3,
    ],
)
def test_lists_of_codes_are_at_most_in_doubt(text: str) -> None:
    assert text_quality(text) >= TRUSTED


def test_letters_that_no_language_puts_together_are_in_doubt() -> None:
    mixed = str.maketrans("aeioubcdfghjklmnpqrstvwxyz", "ouaieknrjpcwhmsfvzylqbxdgt")
    assert TRUSTED <= text_quality(PROSE.lower().translate(mixed)) < SURE


@pytest.mark.parametrize(
    ("spec", "pages"),
    [
        ("", [1, 2, 3, 4, 5]),
        ("2", [2]),
        ("4-", [4, 5]),
        ("-2", [1, 2]),
        ("5,1-2, 2", [1, 2, 5]),
        ("3-99", [3, 4, 5]),
        ("9", []),
        ("1-999999999", [1, 2, 3, 4, 5]),
    ],
)
def test_selections(spec: str, pages: list[int]) -> None:
    assert select_pages(spec, 5) == pages


@pytest.mark.parametrize("spec", ["0", "0-3", "3-2", "a", "1,,2", "1-2-3", "-", "1.5", "١", "1 2"])
def test_selections_that_mean_nothing(spec: str) -> None:
    with pytest.raises(UsageError, match="--pages"):
        select_pages(spec, 5)


def test_glyphs_without_a_meaning_are_ligatures_where_they_make_words() -> None:
    text = open_source(str(DATA / "ligatures.pdf")).page(0).text()
    assert [line.text for line in text.lines[:3]] == [
        "Confirmed by the first officer of the fifth fleet, he flew in fine style.",
        "An unfinished definition is no profit",
        "A sign \ufffd alone, and a word in quotes”",
    ]
    assert text.quality > SURE
