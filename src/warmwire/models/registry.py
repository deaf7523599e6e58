"""From a model's name on the command line to a model. Importing this loads nothing.

A name is a word (`pages`, perhaps as `pages?quality=fast`, or `echo`), a file by its suffix (`x.gguf`, perhaps with
options: `x.gguf?ctx=4096`), or a server (`openai:URL#MODEL`). It is all that a worker process is told, so it says
everything about what to load: `page:NAME` is a chat model with eyes as a reader of pages.
"""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warmwire.errors import InputError, UsageError
from warmwire.models.effort import Quality
from warmwire.models.interface import Handler, Model, PageModel

if TYPE_CHECKING:
    from warmwire.models.docling import PageChat
    from warmwire.models.openai.model import ChatModel

PAGE: Final = "page:"
"""Before the name of a model that is to take pages only: one image each, asked as `PageChat` asks."""

MODELS: Final = ("pages", "echo", "x.gril", "x.gguf", "openai:URL#MODEL")
"""The names there are, as a usage line shows them."""


def check_model(name: str) -> None:
    """Raise UsageError for a name that `load_model` does not know, before a worker is started for it.

    Raises InputError for a file that is not there.
    """
    if _loader(name) is _load_pages:
        quality_of(name)
    elif _loader(name) is _load_page:
        check_model(name.removeprefix(PAGE))
    elif _loader(name) is _load_gguf:
        from warmwire.models.llama.options import parse_gguf_name

        _check_file(parse_gguf_name(name)[0])
    elif _loader(name) is _load_gril:
        from warmwire.models.markov_model import parse_gril_name

        _check_file(parse_gril_name(name)[0])
    elif _loader(name) is _load_openai:
        from warmwire.models.openai.load import parse_name

        parse_name(name)


def _check_file(path: Path) -> None:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{path} is not a file")
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None


def load_model(name: str, threads: int | None = None) -> Model:
    """A loaded, warm model, computing on `threads` threads (None: all cores). Raises UsageError, InputError."""
    return _loader(name)(name, threads)


def with_options(
    name: str,
    *,
    ctx: int | None = None,
    gpu_layers: int | None = None,
    mmproj: str | None = None,
    llama_server: str | None = None,
) -> str:
    """The name of a GGUF model with options put behind it, over those that it has. None leaves one as it is.

    Raises UsageError where options are given for a model that takes none.
    """
    given: dict[str, Any] = {"ctx": ctx, "gpu_layers": gpu_layers, "mmproj": mmproj, "llama_server": llama_server}
    given = {key: value for key, value in given.items() if value is not None}
    if not given:
        return name
    prefix = PAGE if _loader(name) is _load_page else ""
    name = name.removeprefix(prefix)
    if _loader(name) is not _load_gguf:
        words = ", ".join("--" + key.replace("_", "-") for key in given)
        raise UsageError(f"{name} takes no {words}; that is for GGUF models")
    from warmwire.models.llama.options import parse_gguf_name

    path, options = parse_gguf_name(name)
    return f"{prefix}{path}{replace(options, **given)}"


def load_page_handler(name: str, threads: int | None = None) -> Handler:
    """A loaded model that reads pages: the page reader, or any chat model with eyes. Raises UsageError, InputError."""
    name = page_model(name).removeprefix(PAGE)
    if _loader(name) is _load_pages:
        return _page_reader(name, threads)
    return _page_chat(name, threads)


def page_model(name: str) -> str:
    """The name of the same model as a reader of pages, for `load_model`. Raises UsageError for one that reads none."""
    loader = _loader(name)
    if loader in (_load_pages, _load_page):
        return name
    if loader in (_load_gguf, _load_openai):
        return PAGE + name
    raise UsageError(f"{name} reads no pages; models that do are: pages, x.gguf with vision, openai:URL#MODEL")


def _loader(name: str) -> Callable[[str, int | None], Model]:
    if (word := name.partition("?")[0]) in _WORDS and (word == name or word == "pages"):
        return _WORDS[word]
    if name.startswith("openai:"):
        return _load_openai
    if name.startswith(PAGE) and _loader(name.removeprefix(PAGE)) in (_load_gguf, _load_openai):
        return _load_page
    for file in (name, name.rpartition("?")[0]):
        if (suffix := Path(file).suffix.lower()) in _SUFFIXES:
            return _SUFFIXES[suffix]
    raise UsageError(f"unknown model {name!r}; models are: {', '.join(MODELS)}")


def _load_echo(name: str, threads: int | None) -> Model:
    from warmwire.models.echo import EchoModel

    return EchoModel()


def _load_pages(name: str, threads: int | None) -> Model:
    return PageModel(_page_reader(name, threads))


def _page_reader(name: str, threads: int | None) -> Handler:
    from warmwire.models.pages import PageReader

    return PageReader(threads, quality_of(name))


def quality_of(name: str) -> Quality:
    """How the page reader of that name reads: fast, auto or best. Raises UsageError for any other."""
    options = name.partition("?")[2]
    key, _, value = options.partition("=")
    if not options:
        return Quality.AUTO
    if key != "quality" or value not in list(Quality):
        raise UsageError(f"{name}: the page reader is pages?quality=X, with X one of {', '.join(Quality)}")
    return Quality(value)


def _load_gguf(name: str, threads: int | None) -> Model:
    """A GGUF model; one that is known to read pages becomes a page model."""
    from warmwire.models.docling import PageChatModel
    from warmwire.models.llama.load import load_llama

    if _is_docling_file(name):
        return PageChatModel(_gguf_reader(name, threads))
    return load_llama(name, threads)


def _load_gril(name: str, threads: int | None) -> Model:
    from warmwire.models.markov_model import MarkovModel

    return MarkovModel.open(name)


def _load_openai(name: str, threads: int | None) -> Model:
    from warmwire.models.docling import PageChatModel, is_docling
    from warmwire.models.openai.load import load_openai

    model = load_openai(name)
    return PageChatModel(_openai_reader(model)) if is_docling(model.name) else model


def _load_page(name: str, threads: int | None) -> Model:
    from warmwire.models.docling import PageChatModel

    return PageChatModel(_page_chat(name.removeprefix(PAGE), threads))


_WORDS: Final = {"pages": _load_pages, "echo": _load_echo}
_SUFFIXES: Final = {".gguf": _load_gguf, ".gril": _load_gril}


# ---------------------------------------------------------------------- readers of pages


def _is_docling_file(name: str) -> bool:
    from warmwire.models.docling import is_docling
    from warmwire.models.llama.header import read_header
    from warmwire.models.llama.options import parse_gguf_name

    path, _ = parse_gguf_name(name)
    return is_docling(path.name) or is_docling(read_header(path).name)


def _page_chat(name: str, threads: int | None) -> PageChat:
    """A GGUF or openai model as a page reader. Raises InputError for one that cannot be."""
    if _loader(name) is _load_gguf:
        return _gguf_reader(name, threads)
    from warmwire.models.openai.load import load_openai

    return _openai_reader(load_openai(name))


def _gguf_reader(name: str, threads: int | None) -> PageChat:
    from warmwire.models.docling import PageChat
    from warmwire.models.llama.load import load_llama

    doctags = _is_docling_file(name)
    model = load_llama(name, threads, special=doctags)
    if not model.capabilities.vision:
        raise InputError(f"{name} cannot see: put its mmproj file beside it, or give it as x.gguf?mmproj=FILE")
    return PageChat(model, doctags=doctags)


def _openai_reader(model: ChatModel) -> PageChat:
    from warmwire.models.docling import PageChat, check_tags, is_docling

    doctags = is_docling(model.name)
    reader = PageChat(model, doctags=doctags)
    if doctags:
        check_tags(reader)
    return reader
