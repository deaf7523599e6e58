"""The host of the grall wire."""
