"""Where the results of `warmwire ocr` go: to files beside each other, or to stdout."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import typer

from warmwire.documents.input.gather import STDIN, Input
from warmwire.documents.input.source import Source
from warmwire.documents.output.formats import BINARY, JOINED, SUFFIX, Format, format_of, without_suffix
from warmwire.documents.output.save import linked_figures, render
from warmwire.documents.output.tables import tables_of
from warmwire.documents.reading.journal import journal_path
from warmwire.documents.reading.record import Reading
from warmwire.errors import InputError, UsageError, WarmwireError
from warmwire.layout.page import Kind
from warmwire.system.files import write_file

STDOUT: Final = "-"


def formats_wanted(spec: str, output: str, *, several: bool) -> list[Format]:
    """The formats that `--format` names, or that the suffix of the one file to write asks for; else Markdown.

    Raises UsageError for what is no format.
    """
    if not spec:
        path = Path(output)
        plain = not (several or output == STDOUT or output.endswith(os.sep) or os.path.isdir(output) or not path.suffix)
        special = os.path.exists(output) and not os.path.isfile(output)  # a device or a pipe takes anything
        return [format_of(path)] if plain and not special else [Format.MD]
    words = [word.strip().lower() for word in spec.split(",")]
    for word in words:
        if word not in set(Format):
            raise UsageError(f"--format {spec}: there is no format {word!r}; there are {', '.join(Format)}")
    return [Format(word) for word in dict.fromkeys(words)]


class Targets:
    """Where each file's results go.

    `many` says that there may be several, though just one was found. Raises UsageError for an output that cannot hold
    what is asked for: an existing file for several results, an input of the same call, several results of a kind that
    cannot follow each other on stdout.
    """

    def __init__(
        self,
        inputs: Sequence[Input],
        output: str,
        forms: Sequence[Format],
        images: Path | None = None,
        *,
        many: bool = False,
    ) -> None:
        self.forms = list(forms)
        self._images = images
        self._between = b""
        self._paths: dict[Input, Path | None] = dict.fromkeys(inputs)
        self._out = Path()
        self.to_stdout = output == STDOUT
        self.journal: Path | None = None
        """Where a journal of the run belongs, None where its results are kept in no file."""
        many = many or len(inputs) > 1
        if images is not None and images.exists() and not images.is_dir():
            raise UsageError(f"--images {images} is a file; figures are written into a folder")
        if output == STDOUT:
            self._check_stdout(many)
            return
        try:
            self._place(inputs, output, many)
        except OSError as error:
            raise InputError(f"{output}: cannot be written ({error.strerror or error})") from None

    def _check_stdout(self, many: bool) -> None:
        if len(self.forms) > 1:
            raise UsageError(f"{' and '.join(self.forms)} cannot share stdout; give a file or a directory with -o")
        (form,) = self.forms
        if many and form not in JOINED:
            raise UsageError(f"several files as {form} cannot share stdout; give a directory with -o")
        if form in BINARY and sys.stdout.isatty():
            raise UsageError(f"{form} is not for a terminal; give a file with -o")

    def _place(self, inputs: Sequence[Input], output: str, many: bool) -> None:
        """Find each input's path: of its result, or where there are several, of what their suffixes are put to."""
        out = Path(output)
        if many or out.is_dir() or output.endswith(os.sep):
            if out.exists() and not out.is_dir():
                raise UsageError(f"{output} is a file; the results of several files need a directory")
            if not out.exists() and not output.endswith(os.sep) and out.suffix.lower() in SUFFIX.values():
                raise UsageError(f"{output} is one file's name, but there are several to write; give -o {out.stem}/")
            self._out = out
            for one in inputs:
                self.add(one)
            self.journal = journal_path(out, is_folder=True)
        else:
            self._paths = dict.fromkeys(inputs, out)
            if out.is_file() or not out.exists():
                self.journal = journal_path(out, is_folder=False)
        given = {(found.st_dev, found.st_ino) for one in inputs if (found := _stat(one.path)) is not None}
        for path in (self._path(path, form) for path in self._paths.values() if path for form in self.forms):
            if (found := _stat(str(path))) is not None and (found.st_dev, found.st_ino) in given:
                raise UsageError(f"{path} is an input; writing the result there would destroy it")

    def _path(self, path: Path, form: Format) -> Path:
        """One result's path: what was asked for, with the suffix of its format where there are several."""
        return path if len(self.forms) == 1 else _with_suffix(path, SUFFIX[form])

    def add(self, one: Input) -> None:
        """Find a place for one more result in the folder of results."""
        self._paths[one] = self._out / one.place.with_name(one.place.name + SUFFIX[self.forms[0]])

    def remove(self, one: Input) -> None:
        """Its result is written, or will not be."""
        self._paths.pop(one, None)

    def is_free(self, one: Input) -> bool:
        """Whether nothing is, or will be, where the results of an input would go in the folder of results."""
        taken = {other.place for other in self._paths}
        paths = [self._out / one.place.with_name(one.place.name + SUFFIX[form]) for form in self.forms]
        return one.place not in taken and not any(path.exists() for path in paths)

    def exist(self, one: Input) -> bool:
        """Whether all results of a file are there already."""
        path = self._paths[one]
        if path is None:
            return False
        paths = (self._path(path, form) for form in self.forms)
        return all(path.exists() or _with_suffix(path, f"-1{path.suffix}").exists() for path in paths)

    def write(self, one: Input, reading: Reading, source: Source, *, force: bool = False) -> list[Path]:
        """Write a file's results: to stdout, or to new files that take their names when they are whole; returns these.

        Nothing is written for a format that has nothing to say. Raises InputError.
        """
        written = []
        path = self._paths[one]
        base = path.parent if path is not None else Path()
        figures = linked_figures(reading, source, self._images, "-".join(one.place.parts), base)
        for form in self.forms:
            parts = render(reading, form, source, force=force, figures=figures)
            for suffix, data in parts.items():
                if path is None:
                    print_out(self._between + data)
                    self._between = b"\n"
                else:
                    place = self._path(path, form) if len(parts) == 1 else _with_suffix(path, suffix)
                    write_file(place, data)
                    written.append(place)
        return written

    def missed(self, reading: Reading) -> list[str]:
        """What was asked for and a document has none of, in words."""
        tabular = [form for form in self.forms if form in (Format.CSV, Format.XLSX)]
        missed = []
        if tabular and not tables_of(reading):
            missed.append(f"no tables were found, so there is no {' and no '.join(tabular)}")
        kinds = {element.kind for page in reading.pages for element in page.elements}
        if self._images is not None and Kind.PICTURE not in kinds:
            missed.append(f"no figures were found to be cut out into {self._images}")
        return missed


def print_out(data: bytes) -> None:
    """Write to stdout. Raises WarmwireError where that takes nothing: what goes there is for all files of the call."""
    try:
        typer.echo(data, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WarmwireError(f"standard output cannot be written ({error.strerror or error})") from None


def _with_suffix(path: Path, suffix: str) -> Path:
    """`path` with another suffix in place of a format's."""
    return path.with_name(without_suffix(path.name) + suffix)


def _stat(path: str) -> os.stat_result | None:
    """What the system says of a file, None where it is none or nobody can know."""
    try:
        found = None if path == STDIN else os.stat(path)
    except (OSError, ValueError):
        return None
    return found if found is not None and stat.S_ISREG(found.st_mode) else None
