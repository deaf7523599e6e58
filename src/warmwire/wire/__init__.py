"""What the bytes on a socket mean: messages and how they are cut into frames and lines, of both wires, for both sides.
Bytes in, events out; no socket, no thread, no model.
"""
