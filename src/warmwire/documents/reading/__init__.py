"""Pages to elements: which way each is read, by whom, and what the document as a whole adds."""
