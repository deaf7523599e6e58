"""What a model answered, put into a page. A host may send anything or nothing: what does not fit is left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from warmwire.documents.reading.record import ReadPage
from warmwire.layout.doctags.writer import parse
from warmwire.layout.looks import put_looks
from warmwire.layout.runs import reported_runs
from warmwire.media.images import Image

if TYPE_CHECKING:
    from warmwire.client import Recognition

_MOST_READERS: Final = 8
"""Names of models that a host may report for one page."""


def put_answer(page: ReadPage, answer: Recognition, image: Image) -> None:
    """Fill a page with what a model read on its picture and says of it."""
    record = page.record
    page.elements = parse(answer.text, page.width, page.height)
    record.engine = answer.backend
    report = answer.report if isinstance(answer.report, Mapping) else {}
    put_looks(page.elements, report.get("elements"), page.height / max(image.shape[0], 1), page.height)
    record.confidence = _number(report.get("confidence")) if page.elements else None
    record.turn = int(_number(report.get("turn")) or 0)
    across, down = page.width / image.shape[1], page.height / image.shape[0]
    page.runs = [run.moved(lambda x, y: (x * across, y * down)) for run in reported_runs(report.get("words"))]
    record.lines, record.unread = (max(0, int(_number(report.get(key)) or 0)) for key in ("lines", "unread"))
    record.readers = _counts(report.get("readers"))
    record.skipped = _names(report.get("skipped"))


def _counts(value: object) -> dict[str, int]:
    """Counts by name that a model reports, empty if they are none."""
    items = list(value.items())[:_MOST_READERS] if isinstance(value, Mapping) else []
    return {str(name): max(0, int(_number(count) or 0)) for name, count in items}


def _number(value: object) -> float | None:
    """A number a model reports, None if it is none."""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def _names(value: object) -> list[str]:
    """Short names a model reports; anything else is none."""
    return [name[:40] for name in value[:20] if isinstance(name, str)] if isinstance(value, list) else []
