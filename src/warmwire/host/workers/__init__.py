"""Worker processes: a model runs in one, so that its crash costs one request."""
