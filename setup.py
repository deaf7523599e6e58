"""Compiles the Markov kernel when there is a compiler. Without one the same files run interpreted."""

import sys

from setuptools import Extension, setup

KERNEL = "warmwire.markov.kernel"
MODULES = ("sorting", "records", "graph", "walks")


def extensions() -> list[Extension]:
    """The optional extensions; none where Cython is missing or numbers are not stored lowest byte first."""
    if sys.byteorder != "little":
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    names = [f"{KERNEL}.{module}" for module in MODULES]
    kernel = [Extension(n, [f"src/{n.replace('.', '/')}.py"], extra_compile_args=["-O3"]) for n in names]
    made: list[Extension] = cythonize(kernel, build_dir="build", language_level=3)
    for extension in made:
        extension.optional = True  # cythonize forgets it
    return made


setup(ext_modules=extensions())
