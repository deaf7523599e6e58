"""Documents for frameworks that retrieve: LangChain, LlamaIndex and Haystack. Each module needs its framework only."""
