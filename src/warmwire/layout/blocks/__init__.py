"""Lines of a column to blocks: paragraphs, headings, list items, notes, code, formulas."""
