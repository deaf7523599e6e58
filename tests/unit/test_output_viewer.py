"""The viewer: one page, offline, with every block on both sides. It is driven in Chromium where there is one."""

from __future__ import annotations

import base64
import html
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pil

from warmwire.documents.input.given import opener
from warmwire.documents.output.formats import Format, format_of
from warmwire.documents.output.viewer import marked, viewer
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage, Status
from warmwire.layout.page import Box, Cell, Element, Kind, Table
from warmwire.layout.runs import Run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = '</script><script>alert("$title")</script>'


def page() -> str:
    table = Table(1, 2, [Cell("a", 0, 0, header=True), Cell("<b>", 0, 1)])
    elements = [
        Element(Kind.TITLE, "The harbour", Box(20, 20, 180, 40), confidence=0.98),
        Element(Kind.TEXT, f"Ships and crews {EVIL}", Box(20, 50, 180, 70)),
        Element(Kind.LIST_ITEM, "one", Box(20, 80, 180, 90), level=2, ordered=True, marker="1."),
        Element(Kind.TABLE, box=Box(20, 100, 180, 150), table=table),
        Element(Kind.PICTURE, box=None),
    ]
    runs = [Run("Ships and", (20, 50), (100, 0), (0, 20), ((0.0, 0.5), (0.6, 1.0)), 0.5)]
    pages = [
        ReadPage(PageRecord(1, confidence=0.9), 200.0, 300.0, elements, runs),
        ReadPage(PageRecord(2, status=Status.FAILED, error="it broke"), 200.0, 300.0),
    ]
    return viewer(Reading("in/a <b>.png", pages), opener(np.full((300, 200, 3), 255, np.uint8))()).decode()


def test_every_block_is_on_the_picture_and_in_the_text() -> None:
    text = page()
    assert re.findall(r'class="box" data-id="(\S+)"', text) == ["1-0", "1-1", "1-2", "1-3"]
    assert re.findall(r'data-id="(\S+)" class="is-', text) == ["1-0", "1-1", "1-2", "1-3", "1-4"]
    assert 'data-says="title 0.98" style="left:10.00%;top:6.67%;width:80.00%;height:6.67%"' in text
    assert "<title>a &lt;b&gt;.png</title>" in text
    assert "<th>a</th><td>&lt;b&gt;</td>" in text
    assert "<span>1.</span><span>one</span>" in text
    assert "Page 2, read by the file: failed. it broke" in text


def test_the_picture_is_carried_along() -> None:
    data = re.search(r'<img alt="Page 1"><script type="text/plain">(.*?)</script>', page())
    assert data is not None
    assert Pil.open(io.BytesIO(base64.b64decode(data[1]))).size == (200, 300)


def test_words_of_unsure_lines_are_marked() -> None:
    assert re.findall("<mark>(.*?)</mark>", page()) == ["Ships and"]


def test_the_same_words_elsewhere_are_not() -> None:
    assert marked("of ships and of <men> of ships", [["of", "<men>", "of", "ship-"]]) == (
        "of ships and <mark>of &lt;men&gt; of</mark> ships"
    )
    assert marked("of ships", [["of"], ["not", "there"]]) == "of ships"


def test_a_document_cannot_run_anything_and_nothing_is_fetched() -> None:
    text = page()
    assert "alert(" not in re.sub(r"alert\(&quot;", "", text)
    assert "default-src 'none'" in text
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text)


def test_the_suffix_says_so() -> None:
    assert format_of("out/x.viewer.html") is Format.VIEWER
    assert format_of("x.html") is Format.HTML
    assert format_of("x.ALTO.xml") is Format.ALTO


DRIVE = """<script>
const picture = () => document.querySelector("#page-1 img").src.startsWith("data:image/jpeg;base64,/9j/");
let polls = 0;
const drive = () => {
  if (!picture()) {  // it is drawn when it comes near, by a thread that keeps real time, while this one's is virtual
    for (let i = 0; i < 2e7; i++) polls += i % 3;
    return setTimeout(drive, 100);
  }
  const out = {drawn: true}, key = k => document.dispatchEvent(new KeyboardEvent("keydown", {key: k, bubbles: true}));
  key("/"); out.focus = document.activeElement.id;
  find.value = "CREWS"; find.dispatchEvent(new Event("input")); out.found = said.textContent;
  find.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"})); out.now = said.textContent; find.blur();
  document.querySelector(".box").click();
  out.lit = all(".on").map(part => part.dataset.id);
  key("j"); out.down = scrollY > 50; key("k"); out.up = scrollY < 50;
  document.title = JSON.stringify(out);
};
addEventListener("load", drive);
</script></body>"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_links_keys_and_search_work(tmp_path: Path) -> None:
    file = tmp_path / "x.html"
    file.write_text(page().replace("</body>", DRIVE))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000", "--window-size=1200,400"]
    command = [str(CHROMIUM), *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    title = re.search("<title>(.*?)</title>", done.stdout, re.DOTALL)
    assert title is not None, done.stderr
    assert json.loads(html.unescape(title[1])) == {
        "drawn": True,
        "focus": "find",
        "found": "1 found",
        "now": "1 of 1",
        "lit": ["1-0", "1-0"],
        "down": True,
        "up": True,
    }
