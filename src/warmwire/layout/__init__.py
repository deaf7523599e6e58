"""Pages as elements in reading order, and DocTags, shared by recognised and born-digital pages. Pure functions."""
