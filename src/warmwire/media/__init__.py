"""Pictures and sound, from whatever file or object holds them to arrays."""
