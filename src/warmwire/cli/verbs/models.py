"""`warmwire models`: which kinds of models there are, what each needs, and the model files at hand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from warmwire.models.kind import Kind

_MOST_FILES: Final = 1000
"""Files listed; a folder with more is no folder of models."""


def models(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FOLDER...]",
            help="Folders to look for model files in; by default those in WARMWIRE_MODELS and the current one.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """List the kinds of models that `serve` and `ocr --model` take, what each needs, and the model files found.

    Other packages can add kinds of models. A package that cannot be loaded is named, and the exit status is 1.
    """
    from warmwire.models.registry import broken_plugins, kinds

    known, broken = kinds(), broken_plugins()
    found = list(_files(known, folders or _default_folders()))
    if as_json:
        described = [_described(kind) for kind in known]
        files = [{"name": str(path), "bytes": size} for path, size in found]
        typer.echo(json.dumps({"kinds": described, "files": files, "broken": broken}, indent=2))
        return 1 if broken else 0
    for kind in known:
        lacking = f" (not here: pip install '{kind.install}')" if kind.missing() and kind.install else ""
        typer.echo(f"{kind.usage:<18} {kind.summary}: {', '.join(kind.capabilities)}{lacking}")
        for key, meaning in kind.options.items():
            typer.echo(f"{'':<18}   ?{key}=  {meaning}")
    for path, size in found:
        typer.echo(f"{size / 1e6:>10,.1f} MB  {path}")
    for plugin, why in broken.items():
        typer.echo(f"warmwire: the model plug-in {plugin} cannot be loaded: {why}", err=True)
    return 1 if broken else 0


def _described(kind: Kind) -> dict[str, object]:
    return {
        "name": kind.usage,
        "summary": kind.summary,
        "capabilities": kind.capabilities,
        "options": dict(kind.options),
        "missing": kind.missing(),
        "install": kind.install,
    }


def _default_folders() -> list[Path]:
    named = [Path(folder) for folder in os.environ.get("WARMWIRE_MODELS", "").split(os.pathsep) if folder]
    return [*named, Path()]


def _files(known: Iterable[Kind], folders: Iterable[Path]) -> Iterator[tuple[Path, int]]:
    """The model files in some folders, each once, and their sizes. A folder that is not there has none."""
    suffixes = {kind.suffix for kind in known if kind.suffix}
    seen: set[Path] = set()
    for folder in folders:
        try:
            entries = sorted(entry for entry in folder.iterdir() if entry.suffix.lower() in suffixes)
        except OSError:
            continue
        for path in entries:
            if path.resolve() not in seen and path.is_file() and len(seen) < _MOST_FILES:
                seen.add(path.resolve())
                yield path, path.stat().st_size
