"""Sans-I/O codecs and messages of both wires: bytes in, events out, bytes to send. No socket, no thread, no model."""
