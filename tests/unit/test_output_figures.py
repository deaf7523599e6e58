"""Figures as files, and the links to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pil

from warmwire.documents.input.given import opener
from warmwire.documents.output.figures import Figure, write_figures
from warmwire.documents.output.formats import Format
from warmwire.documents.output.save import linked_figures, render, save
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage
from warmwire.layout.page import Box, Element, Kind

PIXELS = np.random.default_rng(5).integers(0, 255, (300, 200, 3), np.uint8)


def reading() -> Reading:
    elements = [
        Element(Kind.TEXT, "Above.", Box(0, 0, 200, 20)),
        Element(Kind.PICTURE, box=Box(10, 30, 110, 130)),
        Element(Kind.CAPTION, 'Fig. 1. A "ship" [sic] & crew.', Box(10, 135, 110, 145)),
        Element(Kind.PICTURE, box=Box(300, 400, 310, 410)),
        Element(Kind.PICTURE, box=Box(10, 200, 60, 260)),
    ]
    return Reading("x.png", [ReadPage(PageRecord(1), 200.0, 300.0, elements)])


def test_figures_are_the_pixels_of_the_page(tmp_path: Path) -> None:
    source = opener(PIXELS)()
    figures = write_figures(reading(), source, tmp_path / "new", "x")
    assert [Path(figure.path).name for figure in figures] == ["x-1-1.png", "", "x-1-3.png"]
    assert [figure.caption for figure in figures[1:]] == ["Figure 2 on page 1", "Figure 3 on page 1"]
    assert (np.asarray(Pil.open(figures[0].path)) == PIXELS[30:130, 10:110]).all()


def test_links_lead_from_the_output_to_the_figure() -> None:
    assert Figure("out/pictures/a b.png", "c").link(Path("out")).path == "pictures/a%20b.png"
    assert Figure("pictures/a.png", "c").link(Path("out/deep")).path == "../../pictures/a.png"
    assert Figure("", "c").link(Path("out")).path == ""


def test_markdown_and_html_show_them_with_their_captions(tmp_path: Path) -> None:
    source = opener(PIXELS)()
    figures = linked_figures(reading(), source, tmp_path / "i", "x", tmp_path)
    (markdown,) = render(reading(), Format.MD, source, figures=figures).values()
    assert '![Fig. 1. A "ship" \\[sic\\] & crew.](i/x-1-1.png)' in markdown.decode()
    assert markdown.decode().count("<!-- image -->") == 1
    (page,) = render(reading(), Format.HTML, source, figures=figures).values()
    assert '<img src="i/x-1-1.png" alt="Fig. 1. A &quot;ship&quot; [sic] &amp; crew.">' in page.decode()
    assert '<img src="i/x-1-3.png" alt="Figure 3 on page 1">' in page.decode()


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_nothing_changes_without_a_folder(suffix: str, tmp_path: Path) -> None:
    save(reading(), tmp_path / f"x.{suffix}", Format(suffix), opener(PIXELS))
    assert [path.name for path in tmp_path.iterdir()] == [f"x.{suffix}"]
    assert "<img" not in (tmp_path / f"x.{suffix}").read_text()
