"""The embedded page reader: pixels to DocTags with models that ship inside wheels."""
