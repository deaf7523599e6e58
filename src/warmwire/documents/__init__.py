"""PDF and image input, routing, digital text and exports. Knows an `Engine`, never a model.

source    a file as pages: `open_source`; `images` and `pdf` (and all `pdf_*`) behind it
given     what else a program may hand over
quality   how far a file's own text can be trusted
route     which pages go to the engine
read      `Reader`: pages to elements
record    what is known of each page afterwards
flow      a reading as one body: lists in lists, captions on figures, paragraphs over pages
export    that to Markdown, HTML, JSON, DocTags and text; `document` and `output` behind it
output    everything else that can be written
result    `Document`: what a program gets
"""
