"""What was read beside what is there: a document's text from its truth, and the F1 of words, in whatever order."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.corpus import Set


def words_of(text: str) -> Counter[str]:
    """The words of a text, without Markdown's own signs, marks of list items and what has no letter or figure; Chinese
    letters are words."""
    plain = re.sub(r"^\s*(?:[-+•*]|\d+[.)])\s+(?:\[[ xX]\]\s+)?", " ", text, flags=re.MULTILINE)
    plain = re.sub(r"[|*#\\`_]|<[^>]*>", " ", plain)
    return Counter(word for word in re.findall(r"[⺀-鿿]|[^\s⺀-鿿]+", plain) if re.search(r"\w", word))


def truth_of(corpus: Path, chosen: Set, name: str) -> tuple[str, str, str]:
    """The text that a document has, its running lines, which may be left out, and its language."""
    folder = corpus / chosen.folder
    truth = json.loads((folder / f"{name}.truth.json").read_text("utf-8"))
    if chosen.facts:
        return " ".join(_texts(json.loads((folder / f"{name}.words.json").read_text("utf-8")))), "", _language(name)
    blocks = [block for page in truth["pages"] for block in page["blocks"]]
    running = [block for block in blocks if block["type"].startswith("page_") or block.get("optional")]
    text = [block for block in blocks if block not in running]
    return " ".join(_texts(text, "text")), " ".join(_texts(running, "text")), truth.get("lang", "en")


def _language(name: str) -> str:
    return next((code for mark, code in (("-fr", "fr"), ("-de", "de"), ("japanese", "ja")) if mark in name), "en")


def _texts(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, key)
    elif isinstance(value, dict):
        for name, part in value.items():
            if not key or name == key or isinstance(part, (list, dict)):
                yield from _texts(part, key)


def f1(documents: Iterable[tuple[str, str, str]]) -> float:
    """The F1 of words over documents, of each what was read, what is right, and what may be there or not."""
    common = read = right = 0
    for text, truth, running in documents:
        ours, theirs = words_of(text), words_of(truth)
        more = ours - theirs
        common, right = common + (ours & theirs).total(), right + theirs.total()
        read += (ours & theirs).total() + (more - words_of(running)).total()
    return 2 * common / max(1, read + right)
