"""Standard streams, signals, numbers, and reaching a host."""
