"""Which documents a call means, and what their results are called."""

from __future__ import annotations

import base64
import io
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pil

from warmwire.client import InputError, UsageError
from warmwire.documents.input.gather import gather
from warmwire.documents.input.open import open_bytes, open_source


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a/x.pdf", "a/b/x.pdf", "a/b/y.png", "a/b/notes.txt", "a/.git/z.pdf", "c/x.pdf", "c/x.tif"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "empty").mkdir()
    return tmp_path


def places(*words: str, **options: object) -> dict[str, str]:
    inputs, problems = gather(words, **options)  # type: ignore[arg-type]
    assert problems == []
    return {one.path: str(one.place) for one in inputs}


def test_a_folder_stands_for_the_documents_in_it(tree: Path) -> None:
    assert places("a") == {"a/x.pdf": "x", "a/b/x.pdf": "b/x", "a/b/y.png": "b/y"}
    assert places("a", exclude=["b"]) == {"a/x.pdf": "x"}
    assert places("a", exclude=["b/*.pdf"]) == {"a/x.pdf": "x", "a/b/y.png": "b/y"}
    assert places("a", exclude=["*.png"]) == {"a/x.pdf": "x", "a/b/x.pdf": "b/x"}
    assert places("a", apart=[tree / "a" / "b"]) == {"a/x.pdf": "x"}
    assert len(places("a", apart=[tree / "a"])) == 3, "results beside their inputs"


def test_a_pattern_is_for_where_no_shell_has_been(tree: Path) -> None:
    assert places("a/**/*.pdf") == {"a/x.pdf": "x", "a/b/x.pdf": "b/x"}
    assert places("a/b/*") == {"a/b/x.pdf": "x", "a/b/y.png": "y"}
    assert places("a/b/*.txt") == {"a/b/notes.txt": "notes"}
    (tree / "odd[1].pdf").write_bytes(b"x")
    assert places("odd[1].pdf") == {"odd[1].pdf": "odd[1]"}, "what exists is no pattern"


def test_results_of_one_name_are_told_apart(tree: Path) -> None:
    assert places("a/x.pdf", "c/x.pdf") == {"a/x.pdf": "a/x", "c/x.pdf": "c/x"}
    assert places("c") == {"c/x.pdf": "x.pdf", "c/x.tif": "x.tif"}
    assert places("a", "c/x.pdf") == {"a/x.pdf": "a/x", "a/b/x.pdf": "b/x", "a/b/y.png": "b/y", "c/x.pdf": "c/x"}
    three = places("a/x.pdf", "c/x.pdf", "c/x.tif")
    assert three == {"a/x.pdf": "a/x.pdf", "c/x.pdf": "c/x.pdf", "c/x.tif": "c/x.tif"}
    inputs, _ = gather(["data:,x", "data:,y"])
    assert [str(one.place) for one in inputs] == ["data", "data-2"]


def test_a_file_given_twice_is_read_once_where_it_has_one_result(tree: Path) -> None:
    twice = ["a/x.pdf", str(tree / "a" / "x.pdf"), "a/x.pdf"]
    assert [one.path for one in gather(twice, once=True)[0]] == ["a/x.pdf"]
    assert len(gather(["a/x.pdf", "a/x.pdf"])[0]) == 2


def test_what_means_no_document_is_told(tree: Path) -> None:
    inputs, problems = gather(["empty", "a/x.pdf", "z*.pdf"])
    assert [one.path for one in inputs] == ["a/x.pdf"]
    assert [problem.partition(":")[0] for problem in problems] == ["empty", "z*.pdf"]
    for last in ("out.md", "out.txt", "out/"):
        with pytest.raises(UsageError, match=f"put -o before it: -o {last}"):
            gather(["a/x.pdf", last])
    assert gather(["a/x.pdf", "out.pdf"])[0][1].path == "out.pdf", "that may be a misspelt input"


# ---------------------------------------------------------------------- kinds of files


def picture(form: str, *, frames: int = 1, mode: str = "RGB") -> bytes:
    pages = [Pil.new("RGB", (40, 30), (60 * n, 255 - 60 * n, 200)).convert(mode) for n in range(frames)]
    file = io.BytesIO()
    pages[0].save(file, form, **({"save_all": True, "append_images": pages[1:]} if frames > 1 else {}))
    return file.getvalue()


@pytest.mark.parametrize("form", ["TIFF", "GIF", "WEBP"])
def test_every_frame_is_a_page(form: str) -> None:
    source = open_bytes("x", picture(form, frames=3))
    assert len(source) == 3
    colours = [source.page(n).render(0)[15, 20].astype(int) for n in (2, 0, 1)]
    for n, colour in zip((2, 0, 1), colours, strict=True):
        assert abs(colour - [60 * n, 255 - 60 * n, 200]).max() < 12


def test_windows_bitmaps_are_read() -> None:
    assert tuple(open_bytes("x", picture("BMP")).page(0).render(0)[0, 0]) == (0, 255, 200)


def test_sixteen_bits_are_scaled_and_not_cut() -> None:
    grey = np.full((40, 60), 65535, np.uint16)
    grey[10:20, 10:50] = 300
    for form in ("PNG", "TIFF"):
        file = io.BytesIO()
        Pil.fromarray(grey).save(file, form)
        pixels = open_bytes("x", file.getvalue()).page(0).render(0)
        assert (pixels[0, 0, 0], pixels[15, 20, 0]) == (255, 0)


def test_photos_of_telephones_are_read_or_named(monkeypatch: pytest.MonkeyPatch) -> None:
    head = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(100)
    pytest.importorskip("pi_heif")
    with pytest.raises(InputError, match=r"cannot be read|not a PDF"):
        open_bytes("x.heic", head)
    monkeypatch.setitem(sys.modules, "pi_heif", None)
    with pytest.raises(InputError, match=r"x.heic: a HEIC photo.*pip install 'warmwire\[heic\]'"):
        open_bytes("x.heic", head)


def office(name: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, "<xml/>")
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (office("[Content_Types].xml"), "an Office file; save it as PDF"),
        (office("word/document.xml"), "an Office file; save it as PDF"),
        (office("photos/1.jpg"), "an archive; unpack it"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an old Office file"),
        (b"\n<!DOCTYPE html><html>", "a web page"),
        (b"%!PS-Adobe-3.0", "ps2pdf"),
        (b"AT&TFORM\0\0\1\0DJVMDIRM", "ddjvu"),
        (b"\x1f\x8b\x08", "packed; unpack it"),
        (b"just words", "plain text, which needs no reading"),
        (b"\x01\x02", "not a PDF, PNG, JPEG, TIFF, WebP, GIF, BMP or HEIC file"),
    ],
)
def test_other_kinds_of_files_are_told_what_to_do(data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        open_bytes("x.docx", data)


def test_urls(tree: Path) -> None:
    Path("a b%.bmp").write_bytes(picture("BMP"))
    assert len(open_source(Path("a b%.bmp").resolve().as_uri())) == 1
    assert len(open_source("data:image/bmp;base64," + base64.b64encode(picture("BMP")).decode())) == 1
    os.mkdir("data:,")
    for url, said in {
        "http://x/y.pdf": "nothing is fetched",
        "data:x": "without a comma",
        "file://far/x.pdf": "another machine",
        "file://[/x.pdf": "is no URL",
        "file:///no/such.pdf": "no such file",
        "data:,": "is a directory",
    }.items():
        with pytest.raises(InputError, match=said):
            open_source(url)
