"""Compiles the Markov kernel when there is a compiler. Without one the same files run interpreted.

Where Cython is installed, which pyproject.toml asks for, setuptools gives it the sources of an extension to translate.
"""

import os
import sys

from setuptools import Extension, setup

KERNEL = "warmwire.markov.kernel"
MODULES = ("sorting", "records", "graph", "walks")
FLAGS = [] if "CFLAGS" in os.environ else ["-O3", "-g0"]
"""What holds where nobody says otherwise: some Pythons ask for debugging symbols, four fifths of the wheel."""


def extensions() -> list[Extension]:
    """The optional extensions; none where numbers are not stored lowest byte first."""
    if sys.byteorder != "little":
        return []
    names = [f"{KERNEL}.{module}" for module in MODULES]
    return [Extension(n, [f"src/{n.replace('.', '/')}.py"], extra_compile_args=FLAGS, optional=True) for n in names]


setup(ext_modules=extensions(), options={"build_ext": {"cython_c_in_temp": True}})
