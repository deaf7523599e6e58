"""The parts of docs/ that are made from the code are as the code is now, and are what they claim to be."""

from __future__ import annotations

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"


PAGES = [*sorted(DOCS.rglob("*.md")), DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md"]


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_reference", DOCS / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MADE = loaded().made()


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name)
def test_making_it_again_makes_no_difference(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == MADE[path], "run: make docs-reference"


def test_the_manual_page_has_every_verb_and_no_line_that_man_would_obey_by_mistake() -> None:
    text = MADE[DOCS / "warmwire.1"]
    assert len(re.findall(r"^\.SS warmwire \w+", text, re.MULTILINE)) == len(loaded().verbs())
    known = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I", ".RI", ".nf", ".fi", ".RS", ".RE", '.\\"'}
    assert {line.split()[0] for line in text.splitlines() if line.startswith((".", "'"))} <= known


def test_the_picture_is_whole() -> None:
    """Every step of the source is there, inside of the picture."""
    root = ElementTree.fromstring(MADE[DOCS / "flow.svg"])
    width, height = (int(root.attrib[name]) for name in ("width", "height"))
    said = " ".join("".join(text.itertext()) for text in root.iter(f"{SVG}text"))
    for line in (DOCS / "flow.txt").read_text().splitlines():
        if "|" in line and not line.startswith("#"):
            assert line.partition("|")[2].removesuffix(">>").strip() in said
    for box in root.iter(f"{SVG}rect"):
        assert int(box.get("x", 0)) + int(box.attrib["width"]) <= width
        assert int(box.get("y", 0)) + int(box.attrib["height"]) <= height


@pytest.mark.parametrize(
    "page",
    PAGES,
    ids=lambda p: p.name,
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_pages_for_a_browser_are_there() -> None:
    """`make docs` says more, such as which are not listed; here it costs nothing."""
    listed = re.findall(r"^ +- (?:[\w. ]+: )?(\S+(?:\.md|/))$", (DOCS.parent / "mkdocs.yml").read_text(), re.MULTILINE)
    assert len(listed) > 20
    assert [name for name in listed if not (DOCS.parent / name).exists()] == []


def test_the_version_is_the_same_everywhere() -> None:
    root = DOCS.parent
    said = {
        file: re.findall(pattern, (root / file).read_text(), re.MULTILINE)
        for file, pattern in {
            "pyproject.toml": r'^version = "(.+)"$',
            "CITATION.cff": r"^version: (.+)$",
            "src/warmwire/__init__.py": r'^__version__ = "(.+)"$',
        }.items()
    }
    assert len({*map(tuple, said.values())}) == 1, said
