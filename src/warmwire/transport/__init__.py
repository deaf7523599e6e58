"""Unix sockets: their paths, listening, dialling, locks, and who is on the other side."""
