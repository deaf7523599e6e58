"""PDF files with structure trees, which say what the parts of their pages are."""

from __future__ import annotations

from tests.data.documents.writer import Pdf, prose, text


def tagged() -> bytes:
    """Headings in the type of the body, named by a structure tree; the second page's tree calls all of it headings."""
    pdf = Pdf()
    names = [["H1", "P", "H2", "P"], ["H1", "H1", "H1", "H1"]]
    first = len(pdf.objects) + 2 * len(names)  # every page and its content stream take an object each
    for number, tags in enumerate(names):
        texts = [
            text(72, 720, f"Harbour matters {number}"),
            prose(72, 700, 4),
            text(72, 600, "Lamps"),
            prose(72, 580, 4),
        ]
        marked = (
            f"/{tag} <</MCID {at}>> BDC {one} EMC " for at, (tag, one) in enumerate(zip(tags, texts, strict=True))
        )
        pdf.page("".join(marked), more=f"/StructParents {number}")
    kids: list[list[int]] = []
    root = first + sum(map(len, names)) + 1
    for number, tags in enumerate(names):
        kids.append(
            [
                pdf.add(f"<</Type/StructElem/S/{tag}/P {root} 0 R/Pg {pdf.pages[number]} 0 R/K {at}>>")
                for at, tag in enumerate(tags)
            ]
        )
    shown = [" ".join(f"{kid} 0 R" for kid in own) for own in kids]
    parents = " ".join(f"{number} [{own}]" for number, own in enumerate(shown))
    assert pdf.add(f"<</Type/StructTreeRoot/K [{' '.join(shown)}]/ParentTree <</Nums [{parents}]>>>>") == root
    pdf.objects[0] = f"<</Type/Catalog/Pages 2 0 R/MarkInfo <</Marked true>>/StructTreeRoot {root} 0 R>>".encode()
    return pdf.bytes()


Part = tuple[str, list["Part | int"], str]
"""An element of a structure tree: its tag, what is in it, and more entries."""


def part(tag: str, *kids: Part | int, more: str = "") -> Part:
    return tag, list(kids), more


def marked(number: int, content: str) -> str:
    return f"/Span <</MCID {number}>> BDC {content} EMC "


def with_trees(pdf: Pdf, trees: list[Part]) -> bytes:
    """The file with a structure tree for each of its pages, which have /StructParents."""
    root = pdf.add("")
    parents: list[dict[int, int]] = [{} for _ in trees]

    def add(node: Part, parent: int, page: int) -> int:
        tag, kids, more = node
        own = pdf.add("")
        shown = []
        for kid in kids:
            if isinstance(kid, int):
                parents[page].setdefault(kid, own)
                shown.append(str(kid))
            else:
                shown.append(f"{add(kid, own, page)} 0 R")
        body = f"<</Type/StructElem/S/{tag}/P {parent} 0 R/Pg {pdf.pages[page]} 0 R/K [{' '.join(shown)}]{more}>>"
        pdf.objects[own - 1] = body.encode("latin-1")
        return own

    tops = [f"{add(tree, root, page)} 0 R" for page, tree in enumerate(trees)]
    numbers = " ".join(
        f"{page} [{' '.join(f'{own[mark]} 0 R' if mark in own else 'null' for mark in range(max(own) + 1))}]"
        for page, own in enumerate(parents)
    )
    tree = f"<</Type/StructTreeRoot/K [{' '.join(tops)}]/ParentTree <</Nums [{numbers}]>>>>"
    pdf.objects[root - 1] = tree.encode()
    pdf.objects[0] = f"<</Type/Catalog/Pages 2 0 R/MarkInfo <</Marked true>>/StructTreeRoot {root} 0 R>>".encode()
    return pdf.bytes()


def structured() -> bytes:
    """Five pages with structure trees: one that knows what the page does not show, and four that are not to be
    believed: upside down, without most of the text, one paragraph for all, the same text twice."""
    pdf = Pdf()
    lines = ["Every lamp is counted before the boats leave the quay, and once more when", "they have come back."]
    cells = ["Place", "Lamps", "Note", "old", "new", "Quay", "1", "far out", "Mole", "22", "33"]
    places = [(90, 0), (190, 0), (330, 0), (190, 1), (250, 1), (90, 2), (190, 2), (330, 2), (90, 3), (190, 3), (250, 3)]
    shown = [
        text(90, 760, "Harbour rules, draft", 8),
        text(90, 700, "Lamps and boats"),
        "".join(text(90, 676 - 14 * row, line) for row, line in enumerate(lines)),
        text(320, 620, "Read this second, for it stands on the right."),
        text(90, 620, "Read this first, for it stands on the left."),
        text(90, 580, "(i)") + text(110, 580, "the oil of the lamps"),
        text(110, 560, "-") + text(124, 560, "and their wicks"),
        text(90, 540, "(ii)") + text(110, 540, "the ropes of the boats"),
        *(text(x, 480 - 16 * row, cell, 9) for cell, (x, row) in zip(cells, places, strict=True)),
        "q 120 0 0 90 90 300 cm /Im Do Q\n",
    ]
    first = 8
    numbers = [1, 2, 3, 4, 5, 6, 7, *range(first, first + len(cells)), first + len(cells)]
    pdf.page(
        f"/Artifact BMC {shown[0]} EMC " + "".join(marked(at, one) for at, one in zip(numbers, shown[1:], strict=True)),
        more="/StructParents 0",
    )
    head, double, cell = iter(range(first, first + 5)), "/A <</O/Table/RowSpan 2>>", iter(range(first + 5, 99))
    table = part(
        "Table",
        part(
            "THead",
            part(
                "TR",
                part("TH", next(head), more=double),
                part("TH", next(head), more="/A <</O/Table/ColSpan 2>>"),
                part("TH", next(head), more=double),
            ),
            part("TR", part("TH", next(head)), part("TH", next(head))),
        ),
        part("TR", part("TD", next(cell)), part("TD", next(cell)), part("TD"), part("TD", next(cell))),
        part("TR", part("TD", next(cell)), part("TD", next(cell)), part("TD", next(cell)), part("TD")),
    )
    items = part(
        "L",
        part("LI", part("LBody", part("P", 5), part("L", part("LI", part("LBody", 6))))),
        part("LI", part("LBody", 7)),
    )
    box = "/Alt (A picture of the harbour) /A <</O/Layout/BBox [90 300 210 390]>>"
    trees = [
        part("Document", part("H1", 1), part("P", 2), part("P", 4), part("P", 3), items, table,
             part("Figure", first + len(cells), more=box)),
    ]  # fmt: skip
    four = [prose(72, 720 - 140 * block, 5) for block in range(4)]
    names = [
        part("Document", *(part("P", at) for at in (3, 2, 1, 0))),
        part("Document", part("P", 2)),
        part("Document", part("P", 0, 1, 2, 3)),
        part("Document", *(part("P", at) for at in (0, 1, 2, 3, 0, 1))),
    ]
    for number, tree in enumerate(names, 1):
        pdf.page("".join(marked(at, one) for at, one in enumerate(four)), more=f"/StructParents {number}")
        trees.append(tree)
    return with_trees(pdf, trees)
