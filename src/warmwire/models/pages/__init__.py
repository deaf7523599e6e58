"""The embedded page reader: pixels to DocTags with models that ship inside wheels."""

from warmwire.models.pages.reader import PageReader

__all__ = ["PageReader"]
