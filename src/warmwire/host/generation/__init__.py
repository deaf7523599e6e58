"""The host of the generation wire: connections, sessions, admission, and what runs the model."""
