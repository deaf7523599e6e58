"""A short fuzz of everything that reads hostile bytes; see `__main__`."""
