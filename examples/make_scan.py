"""Makes scan.pdf: two pages that are pictures only, as a scanner leaves them.

    python make_scan.py [OUT]

A title, headings, two columns, lists and a ruled table, slightly grey and speckled, drawn with the font inside
Pillow, so that the same Pillow always makes the same file.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

DPI = 200
WIDTH, HEIGHT = 1654, 2339  # A4
MARGIN = 180
BLACK = 40

COLUMNS = (
    "The reading room of the old harbour office opened in spring. It holds the log books of two hundred ships, "
    "and every visitor may ask for one at the desk. Most of the books are written by hand, in ink that has "
    "turned brown.",
    "Three volunteers keep the catalogue. They write down the name of the ship, the year and the cargo, and they "
    "note where a page is torn. The work goes slowly, because the older books are brittle.",
    "In the second year a scanner was bought. Now each page is photographed once and the book goes back to its "
    "shelf. Visitors read the pictures on a screen and the paper is spared.",
    "What is still missing is the text. Nobody can search a picture, and so the volunteers began to look for a "
    "program that reads pages on their own machine.",
)
RULES = ("Wash your hands before you touch a book", "Leave bags and coats in the locker", "Use pencils only")
STEPS = ("Find the ship in the catalogue", "Fill in a slip with its number", "Hand the slip to the desk")
SHIPS = (
    ("Ship", "Year", "Cargo", "Pages"),
    ("Gannet", "1871", "Salt", "212"),
    ("Northern Star", "1884", "Timber", "348"),
    ("Patience", "1890", "Coal and iron", "96"),
    ("Two Sisters", "1902", "Herring", "154"),
)


class Sheet:
    """A page that is written from top to bottom; `y` is where the next line goes."""

    def __init__(self) -> None:
        self.image = Image.new("L", (WIDTH, HEIGHT), 250)
        self.draw = ImageDraw.Draw(self.image)
        self.y = MARGIN

    def write(self, text: str, size: int, *, x: int = MARGIN, width: int = WIDTH - 2 * MARGIN, bold: int = 0) -> None:
        """Write a paragraph, broken into lines of at most `width`."""
        font = ImageFont.load_default(size)
        line = ""
        for word in [*text.split(), ""]:
            longer = f"{line} {word}".strip()
            if word and font.getlength(longer) <= width:
                line = longer
                continue
            self.draw.text((x, self.y), line, fill=BLACK, font=font, stroke_width=bold, stroke_fill=BLACK)
            self.y += round(size * 1.45)
            line = word

    def space(self, height: int) -> None:
        self.y += height

    def heading(self, text: str) -> None:
        self.space(36)
        self.write(text, 42, bold=1)
        self.space(18)

    def bullets(self, texts: tuple[str, ...]) -> None:
        for text in texts:
            self.draw.ellipse((MARGIN + 24, self.y + 14, MARGIN + 34, self.y + 24), fill=BLACK)
            self.write(text, 30, x=MARGIN + 70)

    def numbers(self, texts: tuple[str, ...]) -> None:
        for number, text in enumerate(texts, 1):
            self.draw.text((MARGIN + 20, self.y), f"{number}.", fill=BLACK, font=ImageFont.load_default(30))
            self.write(text, 30, x=MARGIN + 70)

    def columns(self, texts: tuple[str, ...]) -> None:
        """Write half of the paragraphs on the left and half on the right."""
        gap = 70
        width = (WIDTH - 2 * MARGIN - gap) // 2
        top, bottom = self.y, self.y
        for column in range(2):
            self.y = top
            for text in texts[column * 2 : column * 2 + 2]:
                self.write(text, 30, x=MARGIN + column * (width + gap), width=width)
                self.space(24)
            bottom = max(bottom, self.y)
        self.y = bottom

    def table(self, rows: tuple[tuple[str, ...], ...], widths: tuple[int, ...]) -> None:
        """Draw a table with a line around every cell."""
        height = 62
        for row in rows:
            x = MARGIN
            for text, width in zip(row, widths, strict=True):
                self.draw.rectangle((x, self.y, x + width, self.y + height), outline=BLACK, width=3)
                font = ImageFont.load_default(34 if row is rows[0] else 30)
                self.draw.text((x + 18, self.y + 12), text, fill=BLACK, font=font)
                x += width
            self.y += height
        self.space(20)

    def footer(self, text: str) -> None:
        self.y = HEIGHT - 140
        self.write(text, 26, x=WIDTH // 2 - 40)

    def scanned(self, seed: int) -> Image.Image:
        """The page as a scanner sees it: a grain of noise on grey paper."""
        grain = np.random.default_rng(seed).normal(0.0, 5.0, (HEIGHT, WIDTH))
        return Image.fromarray(np.clip(np.asarray(self.image) - 6.0 + grain, 0, 255).astype(np.uint8))


def first_page() -> Sheet:
    sheet = Sheet()
    sheet.write("The Log Books of the Harbour", 64, bold=1)
    sheet.space(30)
    sheet.write("A short guide for visitors of the reading room, with the rules of the house.", 30)
    sheet.heading("How it began")
    sheet.columns(COLUMNS)
    sheet.heading("Rules of the house")
    sheet.bullets(RULES)
    sheet.footer("Page 1")
    return sheet


def second_page() -> Sheet:
    sheet = Sheet()
    sheet.heading("How to ask for a book")
    sheet.numbers(STEPS)
    sheet.heading("Ships in the catalogue")
    sheet.write("The four books that are asked for most often:", 30)
    sheet.space(20)
    sheet.table(SHIPS, (420, 200, 420, 200))
    sheet.write("All other books are listed at the desk.", 30)
    sheet.footer("Page 2")
    return sheet


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("scan.pdf")
    pages = [sheet.scanned(seed) for seed, sheet in enumerate((first_page(), second_page()))]
    date = time.gmtime(0)
    pages[0].save(
        out, save_all=True, append_images=pages[1:], resolution=DPI, quality=50, creationDate=date, modDate=date
    )


if __name__ == "__main__":
    main()
