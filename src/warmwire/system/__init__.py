"""Parts that know nothing of pages or models: files, processors, what a `with` block closes."""
