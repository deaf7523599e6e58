"""Clients of the generation wire."""
