"""python -m tests.sanitize: the tests of the Markov kernel, with every access of its compiled loops watched.

The kernel is compiled without bounds checks and trusts its callers for sizes. Here its sources are copied and compiled
with bounds checks. Where gcc has them, the address and undefined-behaviour sanitizers watch as well: they see what goes
past Cython's checks, such as eight bytes read at once, shifts and overflows. Then the kernel's own tests run on that
copy. Exit status 0 is a pass; where there is no C compiler, nothing is checked and it says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KERNEL = Path("warmwire/markov/kernel")
MODULES = ("sorting", "records", "graph", "walks")
SANITIZERS = ("asan", "ubsan")
FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")
TESTS = ("tests/unit/test_markov_generation.py", "tests/unit/test_markov_loading.py",
         "tests/unit/test_markov_training.py", "tests/property/test_markov_properties.py")  # fmt: skip


def main() -> int:
    """Compile, run, and give the exit status of the tests."""
    if shutil.which("gcc") is None:
        print("sanitize: no gcc here; the kernel is not checked")
        return 0
    libraries = _libraries()
    with tempfile.TemporaryDirectory(prefix="ww-") as place:
        tree = Path(place)
        shutil.copytree(ROOT / "src", tree, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        _compile(tree, FLAGS if libraries else ())
        return _test(tree, libraries)


def _libraries() -> list[str]:
    """The sanitizers' own libraries, which must be loaded before Python; none where gcc has not all of them."""
    found = []
    for name in SANITIZERS:
        told = subprocess.run(["gcc", f"-print-file-name=lib{name}.so"], capture_output=True, text=True, check=True)
        path = told.stdout.strip()
        if os.path.isabs(path):
            found.append(path)
    return found if len(found) == len(SANITIZERS) else []


def _compile(tree: Path, flags: tuple[str, ...]) -> None:
    for path in [*(tree / KERNEL / f"{name}.py" for name in MODULES), tree / KERNEL / "memory.pxd"]:
        path.write_text(path.read_text().replace("boundscheck=False", "boundscheck=True", 1))
    script = (
        "import sys\n"
        "from setuptools import Extension, setup\n"
        "from Cython.Build import cythonize\n"
        "flags = sys.argv.pop().split()\n"
        "names = sys.argv.pop().split()\n"
        "made = [Extension(n, [n.replace('.', '/') + '.py'], extra_compile_args=['-O1', '-g', *flags],"
        " extra_link_args=flags) for n in names]\n"
        "setup(name='kernel', packages=[], ext_modules=cythonize(made, language_level=3, quiet=True,"
        " compiler_directives={'show_performance_hints': False}),"
        " script_args=['-q', 'build_ext', '--inplace', '--parallel', '2'])\n"
    )
    names = " ".join(f"{'.'.join(KERNEL.parts)}.{name}" for name in MODULES)
    subprocess.run([sys.executable, "-c", script, names, " ".join(flags)], cwd=tree, check=True)


def _test(tree: Path, libraries: list[str]) -> int:
    place = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tree), str(ROOT)]),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    if libraries:
        place["LD_PRELOAD"] = " ".join(libraries)
    check = "from warmwire.markov import kernel; assert kernel.COMPILED, 'the checked kernel was not compiled'"
    subprocess.run([sys.executable, "-c", check], env=place, check=True)
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    return subprocess.run(tests, env=place, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
