"""Readings as files: what each format needs beyond the text of `export`.

save      one result to one path, whole or not at all
tables    tables as grids of text, CSV and spreadsheets
pdf       the file itself with its words; `layer`, `glyphless` and `picture_pdf` behind it
viewer    one page for a browser
chunks    passages for retrieval
places    hOCR and ALTO
cut       pictures of pages and of figures; `figures` writes these as files
"""
