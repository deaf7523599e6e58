"""What a host can hold: the interfaces, and one module or folder per model."""
