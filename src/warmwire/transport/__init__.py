"""Socket paths, listening, dialling, locks and peer credentials."""
