"""From a model's name on the command line to a model. Importing this loads nothing."""

from __future__ import annotations

from typing import Final

from warmwire.models.base import Model, PageModel
from warmwire.wire.errors import UsageError

MODELS: Final = ("pages", "echo")


def check_model(name: str) -> None:
    """Raise UsageError for a name that `load_model` does not know, before a worker is started for it."""
    if name not in MODELS:
        raise UsageError(f"unknown model {name!r}; models are: {', '.join(MODELS)}")


def load_model(name: str, threads: int | None = None) -> Model:
    """A loaded, warm model, computing on `threads` threads (None: all cores). Raises UsageError, InputError."""
    check_model(name)
    if name == "echo":
        from warmwire.models.echo import EchoModel

        return EchoModel()
    from warmwire.models.pages import PageReader

    return PageModel(PageReader(threads))
