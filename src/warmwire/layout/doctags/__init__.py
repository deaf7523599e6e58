"""DocTags: how a page's elements travel as text."""
