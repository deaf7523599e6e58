"""Documents: files as pages, pages as elements, elements as Markdown, PDF and more. Knows an engine, no model.

`input` opens files and reads what they say of themselves. `reading` decides who reads each page, and joins what the
pages of a document tell together. `output` writes every format. `result` has the `Document` that a program gets, and
`parts` says whether what is needed is installed.
"""
