"""OpenAI-compatible HTTP in front of a host's socket."""
