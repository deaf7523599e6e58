"""The hosts of this user by name, as `ps`, `stop` and `load` speak of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmwire.bridge.fleet.config import Declared, Settings
from warmwire.bridge.fleet.find import socket_paths
from warmwire.cli.verbs.status import look
from warmwire.errors import InputError, UsageError
from warmwire.transport.paths import default_directory


@dataclass(frozen=True)
class HostRow:
    """A host, or a declared model without one. `told` is what `status` knows of it."""

    path: str
    declared: Declared | None
    told: dict[str, Any]

    @property
    def runs(self) -> bool:
        return self.told["pid"] is not None or bool(self.told["alive"])

    @property
    def model(self) -> str:
        """The model's own name, as far as it is told."""
        able = self.told["capabilities"]
        return str(able[0].get("backend", "?")) if able else self.declared.model if self.declared else "?"

    @property
    def name(self) -> str:
        """The name to call it by."""
        if self.declared is not None:
            return self.declared.name
        return self.model if self.told["capabilities"] else self.stem

    @property
    def stem(self) -> str:
        return os.path.basename(self.path).removesuffix(".sock")

    @property
    def state(self) -> str:
        if not self.runs:
            return "stopped"
        return str(self.told["state"] or "silent").replace("_model", "").replace("_", " ")


def rows(settings: Settings) -> list[HostRow]:
    """All hosts in the runtime directory, and all declared models."""
    declared = {model.socket: model for model in settings.models.values()}
    found = [HostRow(path, declared.get(path), look(Path(path))) for path in socket_paths(default_directory())]
    found = [row for row in found if row.runs or row.declared]
    missing = declared.keys() - {row.path for row in found}
    return found + [HostRow(path, model, look(Path(path))) for path, model in declared.items() if path in missing]


def named(name: str, settings: Settings) -> HostRow:
    """The one of that name, alias, model's name, socket's name or path.

    Raises InputError where there is none, UsageError where there are several.
    """
    name = settings.aliases.get(name, name)
    every = rows(settings)
    if "/" in name:
        path = os.path.abspath(name)
        return next((row for row in every if row.path == path), HostRow(path, None, look(Path(path))))
    meant = [row for row in every if row.name == name] or [row for row in every if name in (row.model, row.stem)]
    if len(meant) > 1:
        raise UsageError(f"several hosts are called {name!r}; name the socket: {', '.join(row.path for row in meant)}")
    if not meant:
        known = ", ".join(sorted({row.name for row in every}))
        raise InputError(f"no model is called {name!r}; " + (f"there are: {known}" if known else "none is here"))
    return meant[0]
