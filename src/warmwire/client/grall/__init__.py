"""Clients of the grall wire."""
