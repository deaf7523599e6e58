"""Work on several machines, by Ray: readers of pages, and the sorting and merging of training."""
