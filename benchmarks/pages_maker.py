"""Made pages with truth: documents of many kinds in random looks, for tuning and for judging the layout.

    python benchmarks/pages_maker.py DIR [--seed 1] [--count 60] [--kinds paper,form]

Writes NAME.pdf and NAME.truth.json (the format of the scored sets). What a document says and how it looks are drawn
from the seed: font, size, leading, justified or ragged, indented or spaced paragraphs, headings, margins, columns,
gutters, bullets, rules, running heads. The same seed gives the same documents; tune on one, judge on another.

Needs `weasyprint` (from pip; nothing else of the project does), and fonts: the Debian packages fonts-dejavu,
fonts-liberation, fonts-urw-base35, fonts-ebgaramond, fonts-linuxlibertine, fonts-lato, fonts-open-sans,
fonts-crosextra-carlito and fonts-cantarell hold those named here. A family that is not there is replaced by another.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

SERIF: Final = (
    "Liberation Serif", "EB Garamond", "Linux Libertine O", "C059", "P052", "URW Bookman", "DejaVu Serif",
    "Nimbus Roman",
)  # fmt: skip
SANS: Final = (
    "Liberation Sans", "Lato", "Open Sans", "Carlito", "Cantarell", "DejaVu Sans", "URW Gothic", "Linux Biolinum O",
)  # fmt: skip
MONO: Final = ("Liberation Mono", "DejaVu Sans Mono", "Nimbus Mono PS", "Inconsolata", "Fira Code")
COLOURS: Final = ("#000", "#000", "#1a3a6b", "#7a1f1f", "#1f5a33", "#555")
BULLETS: Final = ("•", "–", "▪", "◦", "*", "-", "‣", "○")

_NOUNS: Final = (
    "harbour", "bridge", "ledger", "kettle", "orchard", "turbine", "lantern", "canal", "workshop", "archive",
    "engine", "meadow", "sensor", "market", "furnace", "valley", "cabin", "vessel", "mill", "gallery", "depot",
    "garden", "tunnel", "platform", "cellar", "tower", "river", "pump", "window", "machine", "barrel", "school",
    "committee", "record", "building", "station", "laboratory", "parish", "district", "survey", "report", "method",
    "sample", "result", "signal", "filter",
)  # fmt: skip
_ADJECTIVES: Final = (
    "old", "narrow", "quiet", "broken", "northern", "public", "early", "heavy", "local", "green", "careful",
    "separate", "modern", "wooden", "regular", "open", "annual", "remote", "shallow", "double", "useful", "private",
    "steady", "central", "independent", "provisional", "well-known",
)  # fmt: skip
_VERBS: Final = (
    "repaired", "measured", "opened", "moved", "counted", "described", "replaced", "closed", "inspected", "sold",
    "painted", "recorded", "lifted", "compared", "approved", "delivered", "reduced", "extended", "considered",
    "connected", "examined",
)  # fmt: skip
_PEOPLE: Final = (
    "Alder", "Birch", "Castell", "Dunmore", "Ekholm", "Farrow", "Granger", "Holt", "Ives", "Jansen", "Kerr",
    "Lindqvist", "Marsh", "Okafor", "Pell", "Quist",
)  # fmt: skip
_FIRST: Final = (
    "Ada", "Bruno", "Clara", "Dora", "Edith", "Felix", "Greta", "Hugo", "Irene", "Jonas", "Karin", "Lena", "Maria",
    "Nils", "Olga", "Paul",
)  # fmt: skip
_WHEN: Final = (
    "in the spring", "before noon", "after the storm", "during the second week", "at the end of the year", "twice",
    "by hand", "without delay", "on Monday morning", "between May and August", "in two stages", "since 1987",
)  # fmt: skip


class Words:
    """Invented text."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def noun(self) -> str:
        return self.rng.choice(_NOUNS)

    def thing(self) -> str:
        return f"{self.rng.choice(_ADJECTIVES)} {self.noun()}"

    def short(self, words: int = 3) -> str:
        """A few words with a capital, as a name of a thing."""
        parts = [self.rng.choice(_ADJECTIVES), *(self.noun() for _ in range(max(1, words - 1)))]
        return " ".join(parts).capitalize()

    def title(self) -> str:
        return self.rng.choice((
            f"The {self.thing()} of the {self.noun()}", f"Notes on the {self.thing()}", f"How the {self.noun()} was "
            f"{self.rng.choice(_VERBS)}", f"{self.noun().capitalize()} and {self.noun()}", self.short(2),
            f"A {self.noun()} for the {self.thing()}",
        ))  # fmt: skip

    def sentence(self) -> str:
        r = self.rng
        body = r.choice((
            f"the {self.thing()} was {r.choice(_VERBS)} {r.choice(_WHEN)}",
            f"the {self.noun()} of the {self.thing()} was {r.choice(_VERBS)} before the {self.noun()} was "
            f"{r.choice(_VERBS)}",
            f"{r.choice(_PEOPLE)} {r.choice(_VERBS)} the {self.thing()} {r.choice(_WHEN)}, and the {self.noun()} "
            f"was {r.choice(_VERBS)} by {r.randint(3, 90)} percent",
            f"if the {self.noun()} is {r.choice(_ADJECTIVES)}, the {self.noun()} should be {r.choice(_VERBS)} "
            f"{r.choice(_WHEN)}",
            f"most of the {r.randint(11, 900)} parts near the {self.thing()} were {r.choice(_VERBS)} (see the "
            f"{self.noun()}), although the {self.noun()} was not {r.choice(_VERBS)}",
            f"“the {self.noun()} is {r.choice(_ADJECTIVES)},” wrote {self.name()}, who {r.choice(_VERBS)} the "
            f"{self.noun()} {r.choice(_WHEN)}",
        ))  # fmt: skip
        first = next(i for i, char in enumerate(body) if char.isalpha())
        return f"{body[:first]}{body[first].upper()}{body[first + 1 :]}."

    def text(self, least: int = 2, most: int = 5) -> str:
        return " ".join(self.sentence() for _ in range(self.rng.randint(least, most)))

    def name(self) -> str:
        return f"{self.rng.choice(_FIRST)} {self.rng.choice(_PEOPLE)}"

    def date(self) -> str:
        r = self.rng
        month = r.choice(("January", "March", "June", "July", "September", "October", "December"))
        return r.choice(
            (f"{r.randint(1, 28)} {month} {r.randint(1990, 2034)}", f"{r.randint(10, 28)}.{r.randint(10, 12)}.2031")
        )

    def money(self) -> str:
        return f"{self.rng.randint(1, 4999):,}.{self.rng.randint(0, 99):02}"

    def address(self) -> list[str]:
        r = self.rng
        town = r.choice(("Greyhaven", "Northam", "Eastlow", "Milford"))
        return [
            f"{r.randint(1, 99)} {self.noun().capitalize()} {r.choice(('Street', 'Lane', 'Road'))}",
            f"{town} {r.choice('ABCDE')}{r.randint(10, 99)} {r.randint(1, 9)}RT",
        ]


@dataclass(slots=True)
class Look:
    """How a document is set; lengths in units of the body where CSS allows."""

    family: str
    head: str
    mono: str
    size: float
    leading: float
    justified: bool
    indented: bool
    gap: float
    margins: tuple[int, int]
    heads: str
    numbered: str
    ratio: float
    colour: str
    bullet: str
    hanging: bool
    rules: str
    running: str
    gutter: float

    @classmethod
    def drawn(cls, rng: random.Random) -> Look:
        family = rng.choice(rng.choice((SERIF, SANS)))
        indented = rng.random() < 0.4
        return cls(
            family=family,
            head=rng.choice((family, family, rng.choice(SANS))),
            mono=rng.choice(MONO),
            size=rng.choice((8, 8.5, 9, 9.5, 10, 10, 10.5, 11, 12)),
            leading=rng.choice((1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6)),
            justified=rng.random() < 0.5,
            indented=indented,
            gap=rng.choice((0.0, 0.0, 0.2)) if indented else rng.choice((0.3, 0.5, 0.7, 1.0)),
            margins=(rng.randint(15, 30), rng.randint(14, 30)),
            heads=rng.choice(("bold", "bold", "bold", "caps", "boldcaps", "centred", "italic", "large")),
            numbered=rng.choice(("", "", "1", "1.")),
            ratio=rng.choice((1.0, 1.1, 1.15, 1.2, 1.3)),
            colour=rng.choice(COLOURS),
            bullet=rng.choice(BULLETS),
            hanging=rng.random() < 0.8,
            rules=rng.choice(("grid", "lines", "booktabs", "zebra", "plain", "thin")),
            running=rng.choice(("none", "foot", "both", "head", "ruled")),
            gutter=rng.choice((1.2, 1.6, 2.0, 2.5)),
        )

    def css(self) -> str:
        """The rules all kinds share."""
        caps = "font-variant:normal;"
        weight = {"caps": "normal", "italic": "normal", "large": "normal"}.get(self.heads, "bold")
        slant = "italic" if self.heads == "italic" else "normal"
        ratio = max(self.ratio, 1.15) if weight == "normal" and self.heads != "caps" else self.ratio
        middle = "center" if self.heads == "centred" else "left"
        cell = {
            "grid": "border:.6pt solid #333",
            "lines": "border-bottom:.5pt solid #888",
            "thin": "border:.3pt solid #999",
        }
        return f"""
        body {{ font-family:'{self.family}'; font-size:{self.size}pt; line-height:{self.leading}; margin:0;
          text-align:{"justify" if self.justified else "left"}; hyphens:{"auto" if self.justified else "manual"} }}
        p, .item, .lines {{ margin:0 0 {self.gap}em; orphans:2; widows:2 }}
        p {{ text-indent:{"1.3em" if self.indented else "0"} }}
        h1 + p, h2 + p, h3 + p, h4 + p, p.flush {{ text-indent:0 }}
        h1, h2, h3, h4 {{ {caps} font-family:'{self.head}'; text-align:{middle}; hyphens:manual; break-after:avoid;
          line-height:1.2; color:{self.colour}; font-weight:{weight}; font-style:{slant} }}
        h1 {{ font-size:{1.7 * max(1.0, self.ratio)}em; margin:0 0 .7em; font-style:normal }}
        h2 {{ font-size:{ratio**2}em; margin:1.1em 0 .4em }}
        h3 {{ font-size:{ratio}em; margin:.9em 0 .3em }}
        h4 {{ font-size:1em; margin:.7em 0 .2em; font-weight:bold }}
        .item {{ {"" if self.hanging else "text-indent:0 !important; padding-left:0 !important;"} }}
        .mark {{ display:inline-block; text-indent:0; text-align:left }}
        .tight {{ margin-bottom:{self.gap / 3}em }}
        .caption {{ font-size:.9em; margin:.5em 0 .8em; text-align:left }}
        .small {{ font-size:.8em }}
        .box {{ border:.6pt solid #444; padding:.6em; margin:.8em 0 }}
        .columns {{ column-gap:{self.gutter}em }}
        table {{ border-collapse:collapse; margin:.6em 0 1em; text-align:left; hyphens:manual;
          {"border-top:1.2pt solid;border-bottom:1.2pt solid" if self.rules == "booktabs" else ""} }}
        td, th {{ padding:.2em .6em; vertical-align:top; {cell.get(self.rules, "")} }}
        th {{ text-align:left; {"border-bottom:.7pt solid" if self.rules in ("booktabs", "lines") else ""} }}
        tr:nth-child(even) td {{ {"background:#eee" if self.rules == "zebra" else ""} }}
        .right {{ text-align:right }}
        pre {{ font-family:'{self.mono}'; font-size:.88em; line-height:1.25; margin:.6em 0;
          text-align:left; white-space:pre-wrap }}
        """


@dataclass(slots=True)
class Sheet:
    """One document in the making: its HTML and its truth."""

    rng: random.Random
    look: Look
    words: Words
    body: list[str] = field(default_factory=list)
    blocks: list[dict[str, Any]] = field(default_factory=list)
    style: str = ""
    paper: str = "A4"
    head: str = ""
    foot: str = ""
    notes: str = ""
    _numbers: list[int] = field(default_factory=lambda: [0, 0, 0])

    def raw(self, markup: str) -> None:
        self.body.append(markup)

    def block(self, type_: str, text: str, **keys: Any) -> None:
        self.blocks.append({"type": type_, "text": text, **keys})

    def put(self, type_: str, text: str, tag: str = "p", css: str = "", cls: str = "", **keys: Any) -> None:
        """One block of text; a line break in it is one on the page."""
        self.block(type_, text, **keys)
        inner = html.escape(text).replace("\n", "<br>")
        self.raw(f'<{tag} class="{cls}" style="{css}">{inner}</{tag}>')

    def title(self, text: str) -> None:
        text = text.upper() if "caps" in self.look.heads else text
        self.put("title", text, "h1")

    def heading(self, level: int, text: str, numbered: bool = True, **keys: Any) -> None:
        """A heading of level 1 to 3 below the title, numbered where the look says so."""
        self._numbers[level - 1] += 1
        self._numbers[level:] = [0] * (3 - level)
        if self.look.numbered and numbered:
            dot = "." if self.look.numbered == "1." else ""
            text = f"{'.'.join(map(str, self._numbers[:level]))}{dot} {text}"
        if "caps" in self.look.heads and level == 1:
            text = text.upper()
        self.put("heading", text, f"h{level + 1}", level=level, **keys)

    def para(self, text: str = "", cls: str = "", css: str = "", **keys: Any) -> None:
        self.put("paragraph", text or self.words.text(), "p", css, cls, **keys)

    def lines(self, lines: list[str], cls: str = "lines", css: str = "text-align:left", **keys: Any) -> None:
        self.put("paragraph", "\n".join(lines), "div", css, cls, **keys)

    def item(self, text: str, marker: str = "", level: int = 1, width: float = 1.6, **keys: Any) -> None:
        """A list item behind a marker, hanging where the look says so."""
        marker = marker or self.look.bullet
        ordered = any(char.isalnum() for char in marker)
        self.block("list_item", text, level=level, **({"ordered": True} if ordered else {}), **keys)
        inset = width * level if self.look.hanging else 0
        outer = 0 if self.look.hanging else width * (level - 1)
        self.raw(
            f'<div class="item" style="margin-left:{outer}em;padding-left:{inset}em;text-indent:-{width}em">'
            f'<span class="mark" style="width:{f"{width}em" if self.look.hanging else "auto"}">'
            f"{html.escape(marker)}{'' if self.look.hanging else '&nbsp;'}</span>{html.escape(text)}</div>"
        )

    def items(self, count: int, level: int = 1, style: str = "", short: bool = False) -> None:
        """Several items; `style` is a pattern of their numbers, "1." or "(a)"."""
        for i in range(count):
            marker = style.replace("1", str(i + 1)).replace("a", chr(97 + i)) if style else ""
            text = self.words.short(self.rng.randint(2, 5)) if short else self.words.text(1, 2)
            self.item(text, marker, level)

    def table(
        self, rows: list[list[Any]], head: int = 1, css: str = "", right: tuple[int, ...] = (), **keys: Any
    ) -> None:
        """A table of texts; a pair (text, columns) spans."""
        cells, markup = [], []
        for i, row in enumerate(rows):
            line = []
            for j, value in enumerate(row):
                text, span = value if isinstance(value, tuple) else (value, 1)
                line.append({"text": text, "rowspan": 1, "colspan": span, "header": i < head})
                tag, cls = "th" if i < head else "td", "right" if j in right else ""
                markup.append(
                    f'{"<tr>" if not j else ""}<{tag} colspan="{span}" class="{cls}">{html.escape(text)}</{tag}>'
                )
            cells.append(line)
        text = " ".join(cell["text"] for row in cells for cell in row)
        self.blocks.append({"type": "table", "text": text, "cells": cells, **keys})
        self.raw(f'<table style="{css}">{"".join(markup)}</table>')

    def running(self, head: str, foot: str) -> None:
        """Running lines, as far as the look has any; "#" stands for the page's number."""
        self.head = head if self.look.running in ("both", "head", "ruled") else ""
        self.foot = foot if self.look.running in ("both", "foot", "ruled") else ""

    def markup(self) -> str:
        def content(text: str) -> str:
            return " counter(page) ".join(f'"{part}"' for part in text.split("#"))

        side, top = self.look.margins
        ruled = self.look.running == "ruled"
        line = "font-size:.85em;white-space:pre;"
        boxes = ""
        if self.head:
            boxes += (
                f"@top-center {{ content:{content(self.head)}; {line} {'border-bottom:.5pt solid' if ruled else ''} }}"
            )
        if self.foot:
            boxes += (
                f"@bottom-center {{ content:{content(self.foot)}; {line} {'border-top:.5pt solid' if ruled else ''} }}"
            )
        page = f"@page {{ size:{self.paper}; margin:{top + 6}mm {side}mm; {boxes} font-family:'{self.look.family}' }}"
        css = f"{page}{self.look.css()}{self.style}"
        return f'<html lang="en"><style>{css}</style><body>{"".join(self.body)}</body></html>'

    def truth(self, kind: str, file: str, pages: int) -> dict[str, Any]:
        running = [
            {"type": type_, "text": text.replace("#", str(page + 1))}
            for page in range(pages)
            for type_, text in (("page_header", self.head), ("page_footer", self.foot))
            if text
        ]
        return {
            "kind": kind,
            "file": file,
            "lang": "en",
            "notes": self.notes,
            "pages": [{"blocks": [*self.blocks, *running]}],
        }


def made(kind: str, seed: str) -> Sheet:
    """A document of a kind."""
    from benchmarks.pages_kinds import KINDS

    rng = random.Random(f"{kind} {seed}")
    sheet = Sheet(rng, Look.drawn(rng), Words(rng))
    KINDS[kind](sheet)
    return sheet


def main() -> int:
    from benchmarks.pages_kinds import KINDS

    parser = argparse.ArgumentParser(description="Make documents with truth.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--kinds", default=",".join(KINDS))
    arguments = parser.parse_args()
    try:
        from weasyprint import HTML
    except ImportError:
        parser.error("weasyprint is not installed: pip install weasyprint")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    kinds = arguments.kinds.split(",")
    for i in range(arguments.count):
        kind, turn = kinds[i % len(kinds)], i // len(kinds) + 1
        name = f"{kind}{turn}"
        sheet = made(kind, f"{arguments.seed} {turn}")
        document = HTML(string=sheet.markup()).render()
        document.write_pdf(arguments.folder / f"{name}.pdf")
        truth = sheet.truth(kind, f"{name}.pdf", len(document.pages))
        (arguments.folder / f"{name}.truth.json").write_text(json.dumps(truth, ensure_ascii=False, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
