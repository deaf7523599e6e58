"""Compiles the Markov kernel when there is a compiler. Without one the same file runs interpreted."""

import sys

from setuptools import Extension, setup

KERNEL = "src/warmwire/models/markov/kernel.py"


def extensions() -> list[Extension]:
    """The optional extension; none where Cython is missing or numbers are not stored lowest byte first."""
    if sys.byteorder != "little":
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    kernel = Extension("warmwire.models.markov.kernel", [KERNEL], extra_compile_args=["-O3"])
    [made] = cythonize([kernel], build_dir="build", language_level=3)
    made.optional = True  # cythonize forgets it
    return [made]


setup(ext_modules=extensions())
