"""The server side: load a model, listen, admit requests, run them in workers, send answers, drain."""
