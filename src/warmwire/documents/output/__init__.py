"""Readings as files, one module a format; `flow` is the body that those for people are written from.

export    Markdown, HTML, JSON, DocTags and text; `document`, `markdown`, `html` and `text` behind it
save      one result to one path, whole or not at all
tables    tables as grids of text, CSV and spreadsheets
pdf       the file itself with its words; `layer`, `glyphless` and `picture_pdf` behind it
viewer    one page for a browser
chunks    passages for retrieval
places    hOCR and ALTO
cut       pictures of pages and of figures; `figures` writes these as files
"""
