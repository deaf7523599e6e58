"""Learns the table of letter pairs by which the documents room tells text from garbage.

python -m benchmarks.letters PROFILES

PROFILES is the folder of n-gram counts inside the source distribution of the package langdetect 1.0.9 (Apache 2.0):
how often letters, pairs and triples stand in the Wikipedias of many languages. Of each Latin-script language here the
pairs are kept, letters without their marks, as the probability of the second after the first.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np

from warmwire.documents.input.letters import LETTERS, STEP, TABLE, fold

_NAMES = "en de nl sv da fr es it pt ro ca pl cs sl hr hu fi et lt lv tr vi id sq cy sw tl so"
LANGUAGES = tuple(_NAMES.split())


def pairs_of(profile: Path) -> np.ndarray:
    """Counts of the pairs of one language: a word's edge and the letters, by themselves."""
    counts = np.ones((LETTERS, LETTERS))  # what never stood together may still do so
    for gram, count in json.loads(profile.read_text("utf-8"))["freq"].items():
        if len(gram) == 2:
            places = fold(gram)
            if places is not None and len(places) == 2:
                counts[places[0], places[1]] += count
    return counts


def main(folder: Path) -> None:
    tables = []
    for language in LANGUAGES:
        counts = pairs_of(folder / language)
        counts += counts.sum() * 1e-6
        bits = -np.log2(counts / counts.sum(axis=1, keepdims=True))
        steps = np.clip(np.round(bits / STEP), 0, 15).astype(np.uint8).ravel()
        steps = np.append(steps, np.zeros(len(steps) % 2, np.uint8))
        tables.append(steps[::2] << 4 | steps[1::2])
    TABLE.write_bytes(np.concatenate(tables).tobytes())
    print(f"{len(LANGUAGES)} languages, {TABLE.stat().st_size} bytes; {math.log2(LETTERS):.1f} bits know nothing")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
