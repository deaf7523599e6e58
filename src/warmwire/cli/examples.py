"""Real calls of every verb, shown at the end of its `--help`, in the reference and in the manual page."""

from __future__ import annotations

from typing import Final

EXAMPLES: Final = {
    "ocr": (
        "warmwire ocr scan.pdf                     # Markdown on standard output",
        "warmwire ocr scan.pdf -o scan.md --pages 1,4-9",
        "warmwire ocr scans/ -o out/               # a folder; run again, it goes on",
        "warmwire ocr scan.pdf -o found.pdf        # the scan, made searchable",
        "warmwire ocr scan.pdf --dry-run           # how each page would be read",
        "warmwire ocr archive/ -o out/ --ray auto  # on a Ray cluster",
    ),
    "watch-folder": (
        "warmwire watch-folder ~/scans ~/texts     # what is dropped there is read",
        "warmwire watch-folder in out -f md,pdf --done read",
    ),
    "serve": (
        "warmwire serve pages --workers 2          # the page reader",
        "warmwire serve gemma-3-4b-it-Q4_K_M.gguf  # a GGUF model on llama.cpp",
        "warmwire serve 'openai:http://gpu-box:8000/v1#qwen3'",
        "warmwire serve echo --socket /tmp/warm/echo.sock",
    ),
    "ask": (
        'warmwire ask "What is a socket?"',
        'warmwire ask "Sum this up." < notes.txt',
        'warmwire ask --image chart.png "Convert chart to table."',
        'warmwire ask --json-schema person.json "Make up a person." --max-tokens 200',
    ),
    "chat": (
        "warmwire chat",
        'warmwire chat --system "Answer in one sentence."',
    ),
    "mcp": ("warmwire mcp --root ~/Documents         # what an assistant is told to start",),
    "embed": (
        'warmwire embed "a text" "another"',
        "warmwire embed - --format lines < texts.txt  # a vector a line",
    ),
    "rerank": (
        'warmwire rerank "capital of France" "Paris is." "Bread is."',
        'warmwire rerank "capital of France" - --top-n 3 < texts.txt',
    ),
    "status": (
        "warmwire status",
        "warmwire status --json --socket /tmp/warm/pages.sock",
    ),
    "watch": ("warmwire watch --socket /tmp/warm/pages.sock",),
    "bridge": (
        "warmwire bridge                           # http://127.0.0.1:8080/v1",
        "warmwire bridge --listen 0.0.0.0:8080 --api-key-env BRIDGE_KEY",
        "warmwire bridge --config models.toml      # starts models when asked for",
    ),
    "ps": ("warmwire ps",),
    "load": ("warmwire load gemma                       # as models.toml calls it",),
    "stop": (
        "warmwire stop gemma",
        "warmwire stop /tmp/warm/echo.sock",
    ),
    "train": (
        "warmwire train book.gril 8 book.txt",
        "zcat dump.gz | warmwire train big.gril 12 - --memory 8G",
        "warmwire train big.gril 12 corpus/ --ray head:6379",
    ),
    "run": (
        'warmwire run book.gril --limit 500 --seed "Once upon "',
        "warmwire run book.gril --rng-seed 7 --limit 100  # the same text every time",
    ),
    "inspect": ("warmwire inspect book.gril -v",),
    "yaml": ("warmwire yaml book.gril book.yaml",),
    "merge": ("warmwire merge both.gril a.gril b.gril --weights 2,1",),
    "ipc": ("warmwire ipc book.gril /tmp/warm/book.sock",),
    "models": (
        "warmwire models",
        "warmwire models ~/models --json",
    ),
    "doctor": ("warmwire doctor",),
    "help": ("warmwire help ocr",),
}
"""By verb; what follows a `#` says what a call does."""


def epilog(verb: str) -> str | None:
    """The examples as the last paragraph of a help text, whose lines stay as they are."""
    lines = EXAMPLES.get(verb, ())
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)]) if lines else None
