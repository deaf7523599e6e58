"""Clients of the wires, sync and async, and the page engines."""
