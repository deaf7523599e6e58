"""From a model's name to a model, whatever kind it is of. Importing this loads nothing.

Kinds of our own and of others register alike: by a reference `module:Class` to a `Kind`, ours in a table here, those of
others as entry points of the group `warmwire.models` in their package's metadata. Ours are asked first, so no package
can change what a name of ours means. A plug-in that cannot be loaded is named and passed over.

`page:NAME` is a chat model with eyes that is to take pages only: one image each, asked as `PageChat` asks.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

from warmwire.errors import UsageError
from warmwire.models.interface import Handler, Model, PageModel
from warmwire.models.kind import Kind

log = logging.getLogger("warmwire.models")

GROUP: Final = "warmwire.models"
"""The group of entry points under which packages register kinds of models."""

PAGE: Final = "page:"

_OURS: Final = {
    "pages": "warmwire.models.pages.kind:PagesKind",
    "gguf": "warmwire.models.llama.kind:GgufKind",
    "openai": "warmwire.models.openai.kind:OpenaiKind",
    "gril": "warmwire.models.gril:GrilKind",
    "echo": "warmwire.models.echo:EchoKind",
}


def kinds() -> list[Kind]:
    """Every kind there is: ours, then those of installed packages in the order of their names."""
    return [_made(reference) for reference in _OURS.values()] + list(_plugins()[0])


def broken_plugins() -> Mapping[str, str]:
    """Plug-ins that could not be loaded, by name, and why."""
    return _plugins()[1]


def find(name: str) -> Kind:
    """The kind that a name is of; `page:` before it is passed over. Raises UsageError where there is none."""
    wanted = name.removeprefix(PAGE)
    for kind in _in_turn():
        if kind.matches(wanted) and (wanted == name or kind.page_name(wanted) == name):
            return kind
    broken = "".join(f"; the plug-in {plugin} cannot be loaded ({why})" for plugin, why in broken_plugins().items())
    known = ", ".join(kind.usage for kind in kinds())
    raise UsageError(f"unknown model {name!r}; models are: {known}{broken}")


def check_model(name: str) -> None:
    """Raise UsageError for a name that `load_model` does not know, InputError for a file that is not there."""
    find(name).check(name.removeprefix(PAGE))


def parallel(name: str) -> int:
    """How many requests one loaded model answers at once. Raises UsageError."""
    return find(name).parallel(name.removeprefix(PAGE))


def load_model(name: str, threads: int | None = None) -> Model:
    """A loaded, warm model, computing on `threads` threads (None: all cores). Raises UsageError, InputError."""
    kind = find(name)
    if name.startswith(PAGE):
        from warmwire.models.docling import PageChat, PageChatModel

        handler = kind.load_pages(name.removeprefix(PAGE), threads)
        return PageChatModel(handler) if isinstance(handler, PageChat) else PageModel(handler)
    return kind.load(name, threads)


def load_page_handler(name: str, threads: int | None = None) -> Handler:
    """A loaded model that reads pages: the page reader, or any chat model with eyes. Raises UsageError, InputError."""
    name = page_model(name)
    return find(name).load_pages(name.removeprefix(PAGE), threads)


def page_model(name: str) -> str:
    """The name of the same model as a reader of pages, for `load_model`. Raises UsageError for one that reads none."""
    found = find(name).page_name(name.removeprefix(PAGE))
    if found is None:
        readers = ", ".join(kind.usage for kind in kinds() if "pages" in kind.capabilities)
        raise UsageError(f"{name} reads no pages; models that do are: {readers}")
    return found


def with_options(name: str, **given: Any) -> str:
    """The name of a model with options put behind it, over those that it has. None leaves one as it is.

    Raises UsageError where the model takes no such option.
    """
    given = {key: value for key, value in given.items() if value is not None}
    if not given:
        return name
    kind = find(name)
    if strange := [key for key in given if key not in kind.options]:
        words = ", ".join("--" + key.replace("_", "-") for key in strange)
        takers = ", ".join(other.usage for other in kinds() if set(strange) <= set(other.options))
        raise UsageError(f"{name} takes no {words}; that is for {takers or 'no model'}")
    prefix = PAGE if name.startswith(PAGE) else ""
    return prefix + kind.with_options(name.removeprefix(PAGE), given)


def _in_turn() -> Iterator[Kind]:
    """Kinds as they are asked for a name; the metadata of installed packages is read only where none of ours has it."""
    for reference in _OURS.values():
        yield _made(reference)
    yield from _plugins()[0]


@cache
def _made(reference: str) -> Kind:
    module, _, name = reference.partition(":")
    kind: Kind = getattr(import_module(module), name)()
    return kind


@cache
def _plugins() -> tuple[tuple[Kind, ...], dict[str, str]]:
    from importlib.metadata import entry_points

    found: list[Kind] = []
    broken: dict[str, str] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            kind = point.load()()
            if not isinstance(kind, Kind):
                raise TypeError(f"{point.value} is no warmwire.models.kind.Kind")
            found.append(kind)
        except Exception as error:  # whatever somebody else's code does when it is imported
            broken[point.name] = f"{type(error).__name__}: {error}"
            log.warning("the model plug-in %s cannot be loaded (%s)", point.name, broken[point.name])
    return tuple(found), broken
