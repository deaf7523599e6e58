"""Kinds of made documents that are lists, boxes and tables."""

# ruff: noqa: E501
# Markup is not cut into pieces.

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Final

from benchmarks.pages_maker import Sheet

SHADE: Final = "background:#333;color:#fff;padding:.2em .5em;margin:.8em 0 .3em"


def columns(sheet: Sheet, count: int) -> None:
    sheet.raw(f'<div class="columns" style="column-count:{count}">')


def end(sheet: Sheet) -> None:
    sheet.raw("</div>")


def form(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.look.heads = "bold"
    sheet.title(f"Application for a {w.noun()} permit")
    sheet.para("Please complete in block letters. Do not write in the shaded boxes.", cls="flush")
    labels = [
        "Surname",
        "First names",
        "Date of birth",
        "Street and number",
        "Town and code",
        "Telephone",
        "Name of the premises",
        "Floor",
        "Place and date",
        "Reference",
        "Amount claimed",
        "Bank account",
        "Nationality",
        "Employer",
    ]
    number = 0
    for letter in "ABC"[: r.randint(2, 3)]:
        text = f"{letter}  {w.short(2)}"
        sheet.put(
            "heading", text, "div", css=SHADE if r.random() < 0.6 else "font-weight:bold;margin:.8em 0 .3em", level=1
        )
        sheet.raw('<div style="display:flex;flex-wrap:wrap">')
        for _ in range(2 * r.randint(2, 4)):
            number += 1
            value = r.choice((w.name().upper(), w.address()[0].upper(), w.date(), str(r.randint(1, 99999))))
            label = labels[(number - 1) % len(labels)]
            sheet.block("paragraph", f"{number} {label} {value}", table_ok=True, list_ok=True)
            sheet.raw(
                f'<div style="box-sizing:border-box;width:49%;border:.6pt solid #333;padding:.2em .4em;margin:0 -0.3pt -0.3pt 0;text-align:left"><div style="font-size:.75em">{number} {label}</div><div style="font-family:Liberation Mono">{html.escape(value)}</div></div>'
            )
        sheet.raw("</div>")
    sheet.para("Tick what applies:", cls="flush", css="margin-top:1em")
    for _ in range(r.randint(3, 5)):
        ticked = r.random() < 0.4
        sheet.block("list_item", text := w.short(4), level=1, checked=ticked)
        sheet.raw(
            f'<div class="item"><span style="font-family:DejaVu Sans">{"☒" if ticked else "☐"}</span> {text}</div>'
        )


def statement(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.running(f"{w.noun().capitalize()} Bank", "Page #")
    sheet.title("Statement of account")
    sheet.lines([w.name(), *w.address()])
    sheet.para(f"Account {r.randint(10000, 99999)}, {w.date()}", cls="flush")
    balance, rows = r.randint(100, 9000), []
    for i in range(r.randint(8, 30)):
        change = r.randint(-400, 400)
        balance += change
        rows.append(
            [
                f"{i + 1:02}.0{r.randint(1, 9)}.",
                w.short(r.randint(2, 4)),
                f"{-change}.00" if change < 0 else "",
                f"{change}.00" if change >= 0 else "",
                f"{balance}.{r.randint(10, 99)}",
            ]
        )
    sheet.table([["Date", "Details", "Out", "In", "Balance"], *rows], css="width:100%", right=(2, 3, 4))
    sheet.para(w.text(1, 2), cls="small flush")


def toc(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.running("", "#")
    sheet.title("Contents")
    leader, bold, page = r.choice(("dotted", "dotted", "space")), r.random() < 0.5, 1

    def entry(number: str, text: str, level: int) -> None:
        nonlocal page
        page += r.randint(1, 6)
        text = f"{number} {text}".strip()
        sheet.block("list_item", f"{text} {page}", level=level)
        inner = f'{html.escape(text)}<span style="position:relative" class="led"></span>'
        sheet.raw(
            f'<div class="entry" data-page="{page}" style="margin-left:{1.5 * (level - 1)}em;{"font-weight:bold;margin-top:.4em" if bold and level == 1 else ""}">{inner}</div>'
        )
        sheet.style = f".entry::after {{ content:leader({leader}) attr(data-page) }} .entry {{ text-align:left }}"

    if r.random() < 0.5:
        entry("", "Preface", 1)
    for i in range(1, r.randint(4, 7)):
        entry(str(i), w.title(), 1)
        for j in range(1, r.randint(1, 4)):
            entry(f"{i}.{j}", w.title(), 2)
            if r.random() < 0.3:
                entry(f"{i}.{j}.1", w.title(), 3)
    entry("", "Index", 1)


def cv(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.look.numbered = ""
    left = r.random() < 0.6
    side, main = [], []
    outer = sheet.body
    sheet.body = main
    sheet.title(w.name())
    sheet.para(f"{w.noun().capitalize()} clerk", cls="flush", heading_ok=True)
    sheet.heading(1, "Profile")
    sheet.para(w.text(2, 3), cls="flush")
    sheet.heading(1, "Experience")
    for year in range(r.randint(2, 3)):
        sheet.para(
            f"Assistant, {w.noun().capitalize()} Partners, {2030 - 3 * year}–{2033 - 3 * year}",
            cls="flush",
            css="font-weight:bold",
            heading_ok=True,
        )
        sheet.items(r.randint(2, 3), short=True)
    sheet.heading(1, "Education")
    for year in range(2):
        sheet.para(
            f"{2018 - 3 * year}–{2021 - 3 * year} {w.short(2)}, Northam College",
            cls="flush",
            table_ok=True,
            list_ok=True,
        )
    sheet.body = side
    for name in ("Contact", "Skills", "Languages"):
        sheet.put("marginal", name, "div", css="font-weight:bold;margin-top:1em", free=True)
        lines = [*w.address(), "0366 67340"] if name == "Contact" else [w.short(2) for _ in range(3)]
        sheet.put("marginal", "\n".join(lines), "div", free=True)
    sheet.body = outer
    tint = "background:#e8ecf2;" if r.random() < 0.6 else ""
    columns = [
        f'<td style="border:0;width:30%;padding:1em;vertical-align:top;{tint}">{"".join(side)}</td>',
        f'<td style="border:0;background:none;width:70%;padding:0 1.5em;vertical-align:top">{"".join(main)}</td>',
    ]
    sheet.raw(f'<table style="border:0;width:100%"><tr>{"".join(columns if left else columns[::-1])}</tr></table>')


def recipe(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.look.numbered = ""
    sheet.title(w.title())
    sheet.para(w.text(1, 2), cls="flush")
    outer, left, right = sheet.body, [], []
    sheet.body = left
    sheet.heading(1, "Ingredients")
    for _ in range(r.randint(6, 10)):
        sheet.item(f"{r.randint(1, 900)} {r.choice(('g', 'ml', 'spoons'))} {w.thing()}")
    sheet.body = right
    sheet.heading(1, "Method")
    for i in range(r.randint(4, 6)):
        sheet.item(w.text(1, 2), f"{i + 1}.")
    sheet.body = outer
    sheet.raw(
        f'<div style="display:flex"><div style="width:{r.randint(28, 36)}%;margin-right:2em">{"".join(left)}</div><div style="width:60%">{"".join(right)}</div></div>'
    )
    sheet.put("marginal", f"Tip: {w.text(1, 2)}", "div", cls="box", free=True)


def pricelist(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.running("", f"{w.noun().capitalize()} Ltd, prices without tax")
    sheet.title("Price list")
    rows: list[list[object]] = [["Number", "Article", "Unit", "Price"]]
    for _ in range(r.randint(2, 4)):
        rows.append([(w.short(2), 4)])
        rows += [
            [f"{r.choice('ABC')}-{r.randint(100, 999)}", w.short(3), r.choice(("piece", "m", "kg")), w.money()]
            for _ in range(r.randint(3, 6))
        ]
    sheet.table(rows, css="width:100%", right=(3,))
    sheet.para(cls="small flush")


def timetable(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.title(f"{w.short(1)} line")
    count = r.randint(6, 10)
    for direction in ("Outward", "Return")[: r.randint(1, 2)]:
        sheet.heading(1, direction, numbered=False)
        rows = [["Station", *(str(r.randint(100, 999)) for _ in range(count))]]
        rows += [
            [w.short(2), *(f"{6 + j}:{(5 * i) % 60:02}" if r.random() < 0.85 else "–" for j in range(count))]
            for i in range(r.randint(6, 11))
        ]
        sheet.table(rows, css="font-size:.85em;width:100%")
    sheet.para(f"Not on {w.date()}. {w.sentence()}", cls="flush")


def twins(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.heading(1, w.title())
    sheet.para()
    sheet.raw('<div style="display:flex;align-items:flex-start">')
    for i in (1, 2):
        sheet.raw('<div style="width:47%;margin-right:3%">')
        sheet.put("caption", f"Table {i}. {w.short(3)}", "div", cls="caption")
        rows = [[w.short(2), str(r.randint(1, 999)), str(r.randint(1, 99))] for _ in range(r.randint(4, 7))]
        sheet.table([["Part", "New", "Old"], *rows], right=(1, 2))
        end(sheet)
    end(sheet)
    sheet.para()


def slides(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.paper, sheet.look.size, sheet.look.margins = "254mm 143mm", r.choice((16, 18, 20)), (18, 10)
    sheet.look.running, sheet.look.numbered, sheet.look.gap, sheet.look.leading = "foot", "", 0.3, 1.25
    sheet.running("", f"{w.noun().capitalize()} 2031   #")
    sheet.title(w.title())
    sheet.para(f"{w.name()}, {w.date()}", cls="flush")
    for _ in range(r.randint(2, 3)):
        sheet.raw('<div style="break-before:page"></div>')
        sheet.heading(1, w.title())
        for _ in range(r.randint(2, 4)):
            sheet.item(w.short(5))
            for _ in range(r.choice((0, 0, 2))):
                sheet.item(w.short(4), "–", 2)


def booktabs(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.look.rules = "booktabs"
    sheet.heading(1, w.title())
    sheet.para()
    sheet.put("caption", f"Table {r.randint(1, 9)}. {w.sentence()}", "div", cls="caption", free=True)
    rows: list[list[object]] = [["", ("Result", 2), ""], ["Procedure", "new", "old", "Cases"]]
    rows += [
        [
            w.short(r.randint(2, 7)),
            f"{r.randint(1, 99)}.{r.randint(0, 9)}",
            f"{r.randint(1, 99)}.{r.randint(0, 9)}",
            str(r.randint(10, 400)),
        ]
        for _ in range(r.randint(5, 9))
    ]
    sheet.table(rows, head=2, css="width:80%" if r.random() < 0.5 else "")
    sheet.para()
    sheet.heading(2, w.title())
    sheet.para()
    sheet.para()


def index(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.look.numbered = ""
    sheet.running("Index", "#")
    sheet.title("Index")
    columns(sheet, r.choice((2, 2, 3)))
    letters = r.random() < 0.6
    last = ""
    for word in sorted({w.noun() for _ in range(60)}):
        if letters and word[0] != last:
            last = word[0]
            sheet.heading(1, last.upper())
        pages = ", ".join(map(str, sorted(r.sample(range(1, 300), r.randint(1, 4)))))
        sheet.put(
            "list_item", f"{word}, {pages}", "div", css="padding-left:1.5em;text-indent:-1.5em;text-align:left", level=1
        )
        for _ in range(r.choice((0, 0, 0, 2))):
            sheet.put(
                "list_item",
                f"{w.thing()}, {r.randint(1, 300)}",
                "div",
                css="padding-left:3em;text-indent:-1.5em;text-align:left",
                level=2,
            )
    end(sheet)


def definitions(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.heading(1, w.title())
    sheet.para()
    style = r.choice(("below", "below", "beside", "runin"))
    for _ in range(r.randint(5, 8)):
        term, text = w.short(2), w.text(1, 3)
        if style == "below":
            sheet.put("paragraph", term, "div", css="font-weight:bold;break-after:avoid", heading_ok=True, list_ok=True)
            sheet.put("paragraph", text, "div", css="margin:0 0 .5em 2em", list_ok=True)
        elif style == "beside":
            sheet.block("paragraph", f"{term} {text}", table_ok=True, list_ok=True)
            sheet.raw(
                f'<div style="display:flex;margin-bottom:.5em"><div style="width:28%;font-weight:bold;text-align:left">{term}</div><div style="width:70%">{html.escape(text)}</div></div>'
            )
        else:
            sheet.block("paragraph", f"{term}. {text}", list_ok=True)
            sheet.raw(f'<p class="flush" style="margin-bottom:.4em"><b>{term}.</b> {html.escape(text)}</p>')
    sheet.para()


def questionnaire(sheet: Sheet) -> None:
    r, w = sheet.rng, sheet.words
    sheet.look.numbered = ""
    sheet.title(f"Questions about the {w.noun()}")
    sheet.para(cls="flush")
    for i in range(r.randint(5, 7)):
        sheet.item(
            f"How often was the {w.thing()} {r.choice(('opened', 'moved', 'closed'))} {r.choice(('in May', 'last year'))}?",
            f"{i + 1}.",
        )
        for text in r.choice(
            (("Never", "Seldom", "Often"), ("Yes", "No"), (w.short(3), w.short(4), w.short(3), "Other"))
        ):
            sheet.block("list_item", text, level=2, checked=False)
            sheet.raw(f'<div style="margin-left:2em"><span style="font-family:DejaVu Sans">☐</span> {text}</div>')


LISTS: Final[tuple[Callable[[Sheet], None], ...]] = (
    form,
    statement,
    toc,
    cv,
    recipe,
    pricelist,
    timetable,
    twins,
    slides,
    booktabs,
    index,
    definitions,
    questionnaire,
)
