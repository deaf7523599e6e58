"""Readings as files: what each format needs beyond the text of `export`.

save      one result to one path, whole or not at all
tables    tables as grids of text, CSV and spreadsheets
cut       pictures of pages and of figures
"""
