"""Files in, documents out: input, routing, digital text, exports. Knows an engine, never a model."""
