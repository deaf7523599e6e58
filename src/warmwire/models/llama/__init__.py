"""GGUF models on llama.cpp: in this process, or in a `llama-server` of ours."""
