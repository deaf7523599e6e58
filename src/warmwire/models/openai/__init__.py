"""Models that speak the OpenAI format: the mapping both ways, and `openai:URL#MODEL` over HTTP."""
