"""PDF pages: characters, lines, drawings, links and tags."""
