"""Markov chains in grall's files as a kind of model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from warmwire.models.interface import Model
from warmwire.models.kind import Kind


class GrilKind(Kind):
    """`x.gril`."""

    suffix = ".gril"
    usage = "x.gril"
    summary = "a Markov chain in grall's file format"
    options: ClassVar[Mapping[str, str]] = {
        "style": "where an answer ends: never, none, line or word",
        "temperature": "0 takes the likeliest byte each time, 1 is as learned",
        "rng_seed": "a number that makes equal requests give equal answers",
    }
    capabilities = ("completion",)

    def check(self, name: str) -> None:
        from warmwire.models.markov_model import parse_gril_name

        parse_gril_name(name)
        super().check(name)

    def load(self, name: str, threads: int | None) -> Model:
        from warmwire.models.markov_model import MarkovModel

        return MarkovModel.open(name)
