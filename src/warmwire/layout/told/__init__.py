"""What a file's own structure tree tells of a page, made one with what its lines show."""
