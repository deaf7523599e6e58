"""Parts that know nothing of pages or models: files, processors, closing, text for terminals."""
