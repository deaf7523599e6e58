"""The report of a run: every page with what may be wrong with it, and what to look at first."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from warmwire.cli.ocr.news import News
from warmwire.cli.ocr.run import Job
from warmwire.cli.ocr.style import ProgressStyle
from warmwire.cli.ocr.targets import Targets
from warmwire.client import Recognition
from warmwire.documents.input.gather import Input
from warmwire.documents.output.formats import Format
from warmwire.documents.output.report import Report
from warmwire.documents.reading.reader import DocumentReader, ReadOptions
from warmwire.errors import BackendUnavailableError, UsageError
from warmwire.media.images import Image

DATA = Path(__file__).parents[1] / "data" / "documents"


class Model:
    """Reads the first page well, dies on the second twice, is unsure of the third, and loses lines of the fourth."""

    def __init__(self) -> None:
        self.asked = 0

    def read(self, image: Image, **_: Any) -> Recognition:
        self.asked += 1
        if self.asked in (2, 3):
            raise BackendUnavailableError("the worker <died>")
        report = {1: {"confidence": 0.98}, 4: {"confidence": 0.6}, 5: {"confidence": 0.97, "lines": 9, "unread": 4}}
        return Recognition("<text>words</text>", "made", report=report.get(self.asked, {}))

    def recognize(self, image: Image, **options: Any) -> str:
        return self.read(image, **options).text

    def close(self) -> None:
        pass


def written(tmp_path: Path, name: str) -> str:
    inputs = [Input.of(str(DATA / "routes.pdf")), Input.of(str(DATA / "nowhere.pdf"))]
    targets = Targets(inputs, str(tmp_path / "out"), [Format.MD])
    report = Report(tmp_path / name)
    reader = DocumentReader(Model, ReadOptions(dpi=50))
    job = Job(reader, targets, pages="2-4,7,8", news=News(ProgressStyle.NONE), report=report)
    assert job.read_all(inputs) == [False, False]
    reader.close()
    job.close(complete=True)
    return (tmp_path / name).read_text()


def test_json_has_every_page_and_the_order_to_look_in(tmp_path: Path) -> None:
    told = json.loads(written(tmp_path, "report.json"))
    routes, nowhere = sorted(told["files"], key=lambda file: str(file["file"]), reverse=True)
    assert (routes["status"], routes["error"]) == ("partial", "")
    assert routes["results"] == [str(tmp_path / "out" / "routes.md")]
    assert [page["page"] for page in routes["pages"]] == [2, 3, 4, 7, 8]
    assert [page["route"] for page in routes["pages"]] == ["model", "model", "model", "model", "file"]
    assert {"why", "seconds", "confidence", "warnings"} <= set(routes["pages"][0])
    assert (nowhere["status"], nowhere["pages"]) == ("failed", [])
    first = told["look_at_first"]
    assert [(Path(one["file"]).name, one["page"]) for one in first] == [
        ("nowhere.pdf", 0),
        ("routes.pdf", 3),
        ("routes.pdf", 7),
        ("routes.pdf", 4),
    ]
    assert first[3]["warnings"] == ["read with a confidence of 0.60"]


def test_html_is_one_safe_page_with_small_pictures(tmp_path: Path) -> None:
    page = written(tmp_path, "report.html")
    assert page.count('src="data:image/jpeg;base64,') == 5
    assert "<th>confidence</th><th>what may be wrong</th>" in page
    assert "&lt;died&gt;" in page
    assert "<died>" not in page
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r'id="([^"]+)"', page))
    assert not re.search(r"(src|href)=.?(http|//)", page)


def test_another_suffix_is_refused_before_anything_is_read() -> None:
    with pytest.raises(UsageError, match=r"a report is .html or .json"):
        Report(Path("x.md"))
