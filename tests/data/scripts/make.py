"""Draws the small pages beside it, of scripts that a page reader knows and does not know.

python make.py FONTS, a directory below which DejaVuSans.ttf, DejaVuSerif.ttf and NotoSansCJK-Regular.ttc lie; the last
has Korean as its second face.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).parent
SERIF, SANS, CJK = ("DejaVuSerif.ttf", 0), ("DejaVuSans.ttf", 0), ("NotoSansCJK-Regular.ttc", 1)
ENGLISH = [
    "We counted every lamp near the old harbour",
    "and wrote the number down in a green book.",
    "At the end of the pier stood seven of them,",
]
GREEK = [
    "Μετρήσαμε κάθε φανάρι κοντά στο παλιό λιμάνι",
    "και γράψαμε τον αριθμό σε πράσινο βιβλίο.",
    "Στην άκρη της προβλήτας ήταν εφτά από αυτά,",
    "δύο ήταν σβηστά και κανείς δεν ήξερε γιατί.",
]
HEBREW = [
    "ספרנו כל פנס ליד הנמל הישן",
    "ורשמנו את המספר בספר ירוק.",
    "בקצה הרציף עמדו שבעה מהם,",
    "שניים היו כבויים ואיש לא ידע מדוע.",
]
PAGES = {
    "greek": (SERIF, GREEK),
    "hebrew": (SANS, HEBREW),
    "korean": (
        CJK,
        [
            "우리는 옛 항구 근처의 모든 등불을 세고",
            "그 수를 초록색 책에 적었다.",
            "부두 끝에는 일곱 개가 서 있었고",
            "두 개는 꺼져 있었지만 아무도 이유를 몰랐다.",
        ],
    ),
    "cyrillic": (
        SERIF,
        [
            "Мы сосчитали каждый фонарь у старой гавани",
            "и записали число в зелёную книгу.",
            "В конце причала их стояло семь,",
            "два не горели, и никто не знал почему.",
        ],
    ),
    "armenian": (
        SERIF,
        [
            "Մենք հաշվեցինք բոլոր լապտերները նավահանգստի մոտ",
            "և թիվը գրեցինք կանաչ գրքում։",
            "Նավամատույցի ծայրին կանգնած էին յոթը,",
            "երկուսը չէին վառվում։",
        ],
    ),
    "georgian": (
        SERIF,
        [
            "ჩვენ დავთვალეთ ყველა ფარანი ძველ ნავსადგურთან",
            "და რიცხვი მწვანე წიგნში ჩავწერეთ.",
            "ნავმისადგომის ბოლოს შვიდი მათგანი იდგა,",
            "ორი ჩამქრალი იყო და არავინ იცოდა რატომ.",
        ],
    ),
    "mixed": (SANS, [*ENGLISH, HEBREW[0], ENGLISH[0], ENGLISH[1], GREEK[0], ENGLISH[2]]),
    "latin": (
        SERIF,
        [
            "Chúng tôi đếm từng ngọn đèn gần bến cảng cũ",
            "Policzyliśmy każdą latarnię przy starym porcie",
            "Eski limanın yanındaki bütün fenerleri saydık",
            "Spočítali jsme všechny lucerny u přístavu",
            "α + β = γ, ΔE = 0.5 · μ² for λ > 3 and σ < 2",
            "A4711-B22X  17:05  3 × 12.50 = 37.50 €",
            "for (int i = 0; i < n; ++i) { sum += a[i]; }",
        ],
    ),
}


def draw(font: tuple[str, int], lines: list[str], fonts: Path) -> Image.Image:
    """A page of lines at about 150 dots per inch, black on white."""
    name, face = font
    letters = ImageFont.truetype(next(fonts.rglob(name)), 24, index=face)
    page = Image.new("1", (760, 60 + 44 * len(lines)), 1)
    pen = ImageDraw.Draw(page)
    for i, line in enumerate(lines):
        right = line[0] in "בושס"
        pen.text((720 if right else 40, 56 + 44 * i), line, 0, letters, "rs" if right else "ls")
    return page


if __name__ == "__main__":
    for name, (font, lines) in PAGES.items():
        draw(font, lines, Path(sys.argv[1])).save(HERE / f"{name}.png", optimize=True)
