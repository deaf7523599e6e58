"""In which order a page is read: columns, what stands across them, what stands around them."""
