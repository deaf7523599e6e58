"""Packages whose names are loaded when they are first used, so that importing them costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy(
    package: str, namespace: dict[str, Any], homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` (PEP 562) of a package, whose `globals()` are `namespace`.

    `homes` has the names that each module gives; modules are named from the project's root package on. What was asked
    for once stays in the namespace.
    """
    modules = {name: module for module, names in homes.items() for name in names}
    root = package.partition(".")[0]

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = namespace[name] = getattr(import_module(f"{root}.{modules[name]}"), name)
        return value

    def names() -> list[str]:
        return sorted({*namespace, *modules})

    return get, names
