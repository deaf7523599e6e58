"""What a kind of model is: one object that knows its names, what it needs, and how to load one.

A model's name is all that a worker process is told, so it says everything about what to load: a word (`echo`), a word
with an argument (`foo:bar`), or a file, told by its suffix (`x.gguf`). Options may follow a question mark:
`x.gguf?ctx=4096`. A kind of somebody else's is found by the entry-point group `warmwire.models`; see docs/plugins.md.
"""

from __future__ import annotations

import stat
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlencode

from warmwire.errors import InputError, UsageError
from warmwire.models.interface import Handler, Model
from warmwire.models.names import split_name


class Kind(ABC):
    """A kind of model. A subclass says what its names look like and loads one; the rest has defaults."""

    word: ClassVar[str] = ""
    """The word that names begin with: `word`, `word:ARGUMENT`, `word?key=value`. Empty for a kind of files."""

    suffix: ClassVar[str] = ""
    """The suffix of its files, in small letters with the dot. Empty for a kind that is no file."""

    usage: ClassVar[str]
    """How a name looks, for help texts: `x.gguf`."""

    summary: ClassVar[str]
    """What it is, in a few words."""

    needs: ClassVar[tuple[str, ...]] = ()
    """The modules that must be importable for it."""

    install: ClassVar[str] = ""
    """What gives them: a requirement, as pip takes it."""

    options: ClassVar[Mapping[str, str]] = {}
    """What may follow the question mark, and what each says."""

    capabilities: ClassVar[tuple[str, ...]] = ("chat",)
    """What models of this kind can do, some of them perhaps: chat, pages, vision, audio, tools, embeddings, rerank."""

    def matches(self, name: str) -> bool:
        """Whether the name is one of this kind's."""
        if self.suffix:
            return self.suffix in (Path(name).suffix.lower(), Path(name.rpartition("?")[0]).suffix.lower())
        return name.partition("?")[0].partition(":")[0] == self.word

    def split(self, name: str) -> tuple[str, dict[str, str]]:
        """A name without its options, and these. Raises UsageError for options that there are not."""
        return split_name(name, self.options, suffix=self.suffix)

    def with_options(self, name: str, given: Mapping[str, object]) -> str:
        """The name with options put behind it, over those that it has. Raises UsageError."""
        base, present = self.split(name)
        every = {**present, **given}
        return f"{base}?{urlencode(every, safe='/')}" if every else base

    def check(self, name: str) -> None:
        """Raise for a name that cannot be loaded, as far as that is known without loading: UsageError for the name and
        its options, InputError for a file that is not there."""
        base, _ = self.split(name)
        if self.suffix:
            check_file(Path(base))

    @abstractmethod
    def load(self, name: str, threads: int | None) -> Model:
        """A loaded, warm model, computing on `threads` threads (None: all cores). Raises UsageError, InputError."""

    def page_name(self, name: str) -> str | None:
        """The name under which the same model takes pages only; None for a kind that reads none."""
        return None

    def load_pages(self, name: str, threads: int | None) -> Handler:
        """The model as a reader of pages. Called only where `page_name` gives a name."""
        raise UsageError(f"{name} reads no pages")

    def parallel(self, name: str) -> int:
        """How many requests one loaded model of that name answers at once, each on a thread of its worker.

        More than one only where `generate` and the rest may run on several threads. Raises UsageError.
        """
        return 1

    def missing(self) -> list[str]:
        """Those of the modules it needs that are not installed."""
        return [module for module in self.needs if find_spec(module) is None]


def check_file(path: Path) -> None:
    """Raise InputError unless a regular file is there."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{path} is not a file")
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
