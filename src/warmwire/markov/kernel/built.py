"""How the kernel was built: compiled only if each of its modules is, since one that is not slows all down."""

from __future__ import annotations

from typing import Final

from warmwire.markov.kernel import graph, records, sorting, walks

COMPILED: Final = all(module.COMPILED for module in (sorting, records, graph, walks))
"""Whether all functions of the kernel are machine code."""
