"""PDF and image input, routing, digital text and exports. Knows an `Engine`, never a model.

source    a file as pages: `open_source`; `images` and `pdf` (`pdf_frame`, `pdf_objects`, `pdf_text`) behind it
given     what else a program may hand over
quality   how far a file's own text can be trusted
route     which pages go to the engine
read      `Reader`: pages to elements
record    what is known of each page afterwards
export    elements to Markdown, HTML, JSON, DocTags and text; `document` and `markdown` behind it
output    everything else that can be written
result    `Document`: what a program gets
"""
