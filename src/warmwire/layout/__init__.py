"""What a page is, and how its lines become headings, paragraphs, lists and tables in reading order. Pure functions, for
recognised and digital pages alike; DocTags.
"""
