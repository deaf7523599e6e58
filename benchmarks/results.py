"""Results of a run: the machine, the rows, and where both are kept."""

from __future__ import annotations

import os
import platform
import re
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import msgspec

import warmwire
from benchmarks.rows import Note, Row, Scale
from warmwire.system.files import write_file

ROOT: Final = Path(__file__).resolve().parent.parent
LATEST: Final = ROOT / "out" / "bench" / "latest.json"
RELEASES: Final = ROOT / "benchmarks" / "results"
PEERS: Final = ("numpy", "onnxruntime", "opencv-python-headless", "pypdfium2", "uvloop", "xllamacpp")
"""Packages whose versions decide about speed."""


class Machine(msgspec.Struct, frozen=True):
    """What a run was measured on and with."""

    version: str
    when: str
    processor: str
    cores: int
    memory_gb: float
    kernel: str
    python: str
    packages: dict[str, str]
    load: float
    """Processes that wanted to run in the minute before."""

    def same_as(self, other: Machine) -> bool:
        """Whether figures that have nothing beside them may be compared."""
        return (self.processor, self.cores) == (other.processor, other.cores)

    def __str__(self) -> str:
        packages = ", ".join(f"{name} {number}" for name, number in self.packages.items())
        return (
            f"warmwire {self.version}, {self.when}. {self.processor}, {self.cores} cores, {self.memory_gb:.0f} GB; "
            f"{self.kernel}; Python {self.python}; {packages}. Load before: {self.load:.1f}."
        )


class Result(msgspec.Struct, frozen=True):
    """A run; `whole` if every group had its turn."""

    machine: Machine
    scale: Scale
    whole: bool
    seconds: float
    rows: list[Row]
    notes: list[Note]


def machine() -> Machine:
    """This machine, now."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Machine(
        version=warmwire.__version__,
        when=time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_gb=round(pages / 1e9, 1),
        kernel=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        packages={name: number for name in PEERS if (number := _version(name))},
        load=round(os.getloadavg()[0], 1),
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def released(number: str) -> Path:
    """The file of a version's results."""
    return RELEASES / f"{number}.json"


def save(result: Result, path: Path) -> None:
    """Write a result as JSON, whole or not at all."""
    write_file(path, msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")


def load(path: Path) -> Result:
    """Read what `save` wrote."""
    return msgspec.json.decode(path.read_bytes(), type=Result)
