"""OpenAI-compatible HTTP in front of a host, and documents over HTTP."""
