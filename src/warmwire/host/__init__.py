"""The server: load, bind, admit, run, stream, drain."""
