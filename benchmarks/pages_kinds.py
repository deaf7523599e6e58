"""The kinds of documents that `pages_maker` makes: each a function that fills a sheet with text and its truth.

Here are those of running text; `pages_lists` has those of lists, boxes and tables.
"""

# ruff: noqa: E501
# Markup is not cut into pieces.

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Final

from benchmarks.pages_lists import LISTS, columns, end
from benchmarks.pages_maker import MONO, Sheet
from benchmarks.pages_tables import TABLES

FIGURE: Final = (
    '<svg viewBox="0 0 100 40" style="width:100%;height:5em;margin-top:.6em"><rect width="100" height="40" fill="#ddd"/>'
    '<polyline points="5,35 25,20 45,28 65,8 95,15" fill="none" stroke="#246" stroke-width="1.5"/></svg>'
)


def paper(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.running(w.title(), "#")
    sheet.title(w.title())
    sheet.para(", ".join(w.name() for _ in range(r.randint(2, 4))), cls="flush", css="text-align:center")
    sheet.heading(1, "Abstract", numbered=False)
    sheet.para(w.text(3, 5), cls="flush")
    columns(sheet, r.choice((1, 2, 2, 2)))
    for i in range(r.randint(3, 4)):
        sheet.heading(1, w.title())
        for _ in range(r.randint(1, 3)):
            sheet.para(w.text(3, 6))
        if i == 1:
            sheet.raw(FIGURE)
            sheet.block("picture", "")
            sheet.put("caption", f"Figure {i}. {w.sentence()}", "div", cls="caption", free=True)
        if r.random() < 0.5:
            sheet.heading(2, w.title())
            sheet.para(w.text(2, 5))
        if i == 2:
            sheet.put("caption", f"Table 1: {w.short(4)}", "div", cls="caption", free=True)
            rows = [[w.short(2), *(str(r.randint(1, 999)) for _ in range(2))] for _ in range(r.randint(3, 6))]
            sheet.table([["Part", "First", "Second"], *rows], right=(1, 2))
    sheet.heading(1, "References", numbered=False)
    style = r.choice(("[1]", "1.", "[1]"))
    for i in range(r.randint(5, 9)):
        text = f"{w.name()}, {w.name()}. {w.title()}. {w.short(2)}, {r.randint(1, 40)}({r.randint(1, 9)}):{r.randint(1, 99)}–{r.randint(100, 199)}, {r.randint(1990, 2030)}."
        sheet.item(text, style.replace("1", str(i + 1)), width=2)
    end(sheet)


def news(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.running(f"The {w.noun().capitalize()} Post", "#")
    sheet.title(w.title())
    columns(sheet, r.choice((2, 3, 3, 4)))
    for i in range(r.randint(2, 4)):
        if i:
            sheet.heading(1, w.title(), numbered=False)
        sheet.para(f"By {w.name()}", cls="flush", css="font-style:italic;margin-bottom:.4em", heading_ok=True)
        for _ in range(r.randint(3, 5)):
            sheet.para(w.text(2, 5))
    end(sheet)


def contract(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.look.numbered = ""
    sheet.running(f"{w.short(2)} agreement", "Page #")
    sheet.title(f"{w.short(1)} agreement")
    sheet.para(f"between {w.name()}, {w.address()[0]} (the Owner) and {w.name()} (the Holder).", cls="flush")
    dot = r.choice((".", ""))
    for i in range(1, r.randint(4, 6)):
        sheet.heading(1, f"{i}{dot} {w.short(2)}", numbered=False)
        for j in range(1, r.randint(3, 5)):
            inset = r.choice((0, 2.2))
            sheet.para(
                f"{i}.{j} {w.text(1, 2)}",
                cls="flush",
                css="padding-left:2.2em;text-indent:-2.2em" if inset else "",
                list_ok=True,
                level=1,
            )
            if r.random() < 0.5:
                for k in range(r.randint(2, 4)):
                    sheet.item(w.sentence()[:-1] + ";", f"({chr(97 + k)})", 2, 1.8)
    sheet.para("Signed at Northam on 4 May 2031", cls="flush")


def _code(sheet: Sheet) -> str:
    r, w = sheet.rng, sheet.words
    a, b, c = w.noun(), w.noun(), w.noun()
    return r.choice((
        f'def {a}_{b}({c}, limit={r.randint(2, 90)}):\n    """Count what is left."""\n    total = 0\n    for item in {c}:\n        if item > limit:\n            total += item\n\n    return total\n\n\nprint({a}_{b}([1, 2, 3]))',
        f"#include <stdio.h>\n\nint {a}(const char *{b}, int n)\n{{\n    int i = 0, sum = {r.randint(2, 90)};\n    while (i < n && {b}[i] != 'z')\n        sum += {b}[i++] * 3;\n    return sum;\n}}",
        f'{{\n  "{a}": {{\n    "{b}": {r.randint(1, 99)},\n    "{c}": ["x", "y"]\n  }},\n  "done": true\n}}',
        f"$ cd /srv/{a}\n$ make {b} -j4\nBuilding {c} ... ok\n$ ls -l {b}.log\n-rw-r--r-- 1 {a} {a} {r.randint(100, 9999)} May 4 12:01 {b}.log",
    ))  # fmt: skip


def listing(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.running(w.title(), "#")
    numbered, boxed = r.random() < 0.5, r.random() < 0.5
    sheet.heading(1, w.title())
    for _ in range(r.randint(2, 3)):
        sheet.para()
        code = _code(sheet)
        sheet.block("code", code, **({"numbered": True} if numbered else {}))
        shown = "\n".join(f"{i + 1:2} {line}" for i, line in enumerate(code.split("\n"))) if numbered else code
        sheet.raw(f'<pre class="{"box" if boxed else ""}">{html.escape(shown)}</pre>')
        sheet.para()
        sheet.heading(2, w.title())
    sheet.para()


def letter(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.lines(
        [f"{w.noun().capitalize()} & {w.noun().capitalize()} Ltd", *w.address()],
        css=f"text-align:{r.choice(('left', 'right', 'center'))};margin-bottom:2em",
    )
    sheet.lines([w.name(), *w.address()], css="text-align:left;margin-bottom:1.5em")
    sheet.para(w.date(), cls="flush", css=f"text-align:{r.choice(('left', 'right'))};margin-bottom:1.5em")
    sheet.para(w.title(), cls="flush", css="font-weight:bold;margin-bottom:1em", heading_ok=True)
    sheet.para(f"Dear {w.name()},", cls="flush", css="margin-bottom:.7em")
    for i in range(r.randint(2, 4)):
        sheet.para(w.text(2, 4), css="margin-bottom:.7em")
        if i == 1 and r.random() < 0.5:
            sheet.items(3)
    sheet.para("Yours sincerely,", cls="flush", css="margin:1em 0 3em")
    sheet.lines([w.name(), f"{w.noun().capitalize()} office"])


def minutes(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.running("", "Page #")
    sheet.title(f"Minutes of the {w.noun()} committee")
    sheet.para(f"Held on {w.date()} in the {w.thing()}", cls="flush")
    for i in range(r.randint(2, 3)):
        sheet.heading(1, w.title())
        sheet.para()
        if i:
            sheet.items(r.randint(2, 4), style=r.choice(("", "1.", "a)")))
    rows = [[str(i + 1), w.sentence(), w.name(), w.date()] for i in range(r.randint(3, 6))]
    sheet.heading(1, "Actions")
    sheet.table([["No.", "Action", "Who", "By"], *rows], css="width:100%")


def dictionary(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.running("", "#")
    columns(sheet, r.choice((2, 2, 3)))
    hang = r.random() < 0.7
    for word in sorted({w.noun() for _ in range(40)}):
        text = f"{word} n. {w.sentence()} {w.sentence() if r.random() < 0.5 else ''}".strip()
        sheet.block("paragraph", text)
        rest = html.escape(text[len(word) :])
        sheet.raw(
            f'<p class="flush" style="{"padding-left:1em;text-indent:-1em" if hang else "text-indent:1em"};margin-bottom:0"><b>{word}</b>{rest}</p>'
        )
    end(sheet)


def chapter(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.paper = "A5"
    sheet.look.margins = (18, 14)
    sheet.look.indented, sheet.look.gap, sheet.look.numbered = True, 0, ""
    sheet.running(w.title(), "#")
    sheet.para(
        f"CHAPTER {r.choice(('ONE', 'SEVEN', 'TWELVE'))}",
        cls="flush",
        css="text-align:center;margin:3em 0 .5em",
        heading_ok=True,
    )
    sheet.put("title", w.title(), "h1", css="text-align:center")
    first = f"The {w.noun()} was closed. {w.text(3, 5)}"
    sheet.block("paragraph", first)
    big = "float:left;font-size:3em;line-height:.85;padding-right:.05em"
    sheet.raw(
        f'<p class="flush"><span style="{big if r.random() < 0.5 else ""}">{first[0]}</span>{html.escape(first[1:])}</p>'
    )
    for i in range(r.randint(3, 5)):
        text = w.text(2, 5)
        if i == 1:
            note = w.sentence()
            sheet.block("paragraph", f"{text}1")
            sheet.raw(
                f'<p>{html.escape(text)}<sup style="font-size:.65em">1</sup><span style="float:footnote;font-size:.8em">{html.escape(note)}</span></p>'
            )
            sheet.style = (
                "::footnote-call{content:''} ::footnote-marker{content:'1 '} @page{@footnote{border-top:.5pt solid}}"
            )
            sheet.block("footnote", f"1 {note}", free=True)
        else:
            sheet.para(text)
        if i == 0 and r.random() < 0.7:
            sheet.lines(
                [w.sentence()[:34].rsplit(" ", 1)[0] + "," for _ in range(4)],
                css="margin:.8em 0 .8em 3em;text-align:left",
            )
    for _ in range(r.randint(0, 4)):
        sheet.para(f"“{w.sentence()}”")


def email(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.look.justified, sheet.look.indented = False, False
    sheet.look.gap = max(sheet.look.gap, 0.5)
    sheet.title(f"Re: {w.title()}")
    one, two = w.name(), w.name()
    sheet.lines(
        [
            f"From: {one} ({one.split()[1].lower()}@example.org)",
            f"Sent: {w.date()} 9:17",
            f"To: {two}",
            f"Subject: Re: {w.short(3)}",
        ],
        css="margin-bottom:1.2em;text-align:left",
    )
    sheet.para(f"Dear {two.split()[0]},")
    for _ in range(r.randint(2, 3)):
        sheet.para()
    sheet.items(r.randint(2, 4), short=True)
    sheet.para(css="margin-top:.7em")
    sheet.lines(["Kind regards", one, f"{w.noun().capitalize()} Partners"])
    sheet.para(f"On {w.date()}, {two} wrote:", css="margin-top:1em")
    bar = "border-left:2pt solid #99a;padding-left:.8em;" if r.random() < 0.6 else "margin-left:1.5em;"
    sheet.raw(f'<div style="{bar}">')
    for _ in range(r.randint(1, 3)):
        sheet.para()
    end(sheet)


def report(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.look.leading = r.choice((sheet.look.leading, sheet.look.leading, 2.0))
    sheet.running(w.title(), "Page #")
    sheet.title(w.title())
    for _ in range(r.randint(2, 3)):
        sheet.heading(1, w.title())
        sheet.para()
        for _ in range(r.randint(1, 2)):
            sheet.heading(2, w.title())
            sheet.para()
            sheet.para()
            if r.random() < 0.5:
                sheet.items(r.randint(2, 4), style=r.choice(("", "1.", "(a)", "1)")))
                if r.random() < 0.5:
                    sheet.items(2, level=2, style="")
            if r.random() < 0.4:
                sheet.heading(3, w.title())
                sheet.para()


def manual(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.running("", "#")
    sheet.title(f"Using the {w.thing()}")
    sheet.para(cls="flush")
    for _ in range(2):
        sheet.heading(1, w.title())
        for i in range(r.randint(3, 5)):
            sheet.item(w.text(1, 2), f"{i + 1}.")
            if r.random() < 0.3:
                sheet.para(w.text(1, 2), cls="flush", css="margin-left:1.6em", list_ok=True)
        sheet.put(
            "marginal", f"{r.choice(('Warning', 'Note', 'Caution'))}: {w.text(1, 2)}", "div", cls="box", free=True
        )
        sheet.put("paragraph", "Type the following:", "p", cls="flush")
        sheet.put(
            "code",
            f"{w.noun()} --{w.noun()} {r.randint(1, 9)}\n{w.noun()} -x {w.noun()}.txt",
            "pre",
            css=f"font-family:'{r.choice(MONO)}'",
        )


def faq(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.title("Frequently asked questions")
    for _ in range(r.randint(5, 8)):
        sheet.put("heading", f"Why was the {w.thing()} {r.choice(('opened', 'moved', 'closed'))}?", "h4", level=1)
        sheet.para(cls="flush")
        if r.random() < 0.3:
            sheet.items(3, short=True)


KINDS: Final[dict[str, Callable[[Sheet], None]]] = {
    kind.__name__: kind
    for kind in (
        paper,
        news,
        contract,
        listing,
        letter,
        minutes,
        dictionary,
        chapter,
        email,
        report,
        manual,
        faq,
        *LISTS,
        *TABLES,
    )
}
