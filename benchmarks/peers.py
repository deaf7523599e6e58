"""The other readers, in an environment of their own: installed by the benchmarks, never with us.

Where one cannot be installed, what it would stand beside is left out, with a line that says so. The environment is
`$WARMWIRE_PEERS`, else `out/peers`; what is there is not installed again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

from benchmarks.results import ROOT
from benchmarks.rows import Budget, Note, Rows

FOLDER: Final = Path(os.environ.get("WARMWIRE_PEERS") or ROOT / "out" / "peers")
PACKAGES: Final = {
    "rapidocr": ("rapidocr", "onnxruntime"),
    "faster-paddle": ("faster-paddle",),
    "pymupdf4llm": ("pymupdf4llm<2",),  # 2.0 is an empty package
}


def python(folder: Path = FOLDER) -> Path:
    """The environment's interpreter."""
    return folder / "bin" / "python"


def site(folder: Path = FOLDER) -> Path:
    """Where its packages are, for a process of ours that takes them before its own."""
    return folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"


def there(peer: str, folder: Path = FOLDER) -> bool:
    """Whether a peer is installed."""
    return (site(folder) / peer.replace("-", "_")).exists()


def install(peer: str, folder: Path = FOLDER) -> bool:
    """Install a peer unless it is there; whether it is now."""
    if there(peer, folder):
        return True
    if not python(folder).exists():
        venv.create(folder, with_pip=True)
    command = [python(folder), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES[peer]]
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode == 0 and there(peer, folder)


def rows(budget: Budget) -> Rows:
    """No rows: the peers are there for the groups that follow."""
    for peer in PACKAGES:
        if not install(peer):
            yield Note("peers", f"{peer} could not be installed; left out")
