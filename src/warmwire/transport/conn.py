"""`Conn`: a blocking framed connection, used by both ends, so that client and server cannot disagree about the codec.

Writes are guarded by a lock, because two threads' frames interleaved would be lost for good. Reads are not: a
connection carries one request at a time, so it has one reader.
"""

from __future__ import annotations

import socket
import threading
from typing import Any

import msgspec

from warmwire.system.closing import Closing
from warmwire.wire.generation.frames import FrameReader, WireFrame, encode_header
from warmwire.wire.generation.messages import FRAME_JSON, Attachment, Request
from warmwire.wire.generation.request import RequestReader, encode_request, without_blobs


class Conn(Closing):
    """A framed connection over a connected stream socket, which it owns from now on."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.frames = FrameReader()
        self.requests = RequestReader(frames=self.frames)
        self.closed = False
        self._writing = threading.Lock()

    def read_frame(self) -> WireFrame:
        """The next frame as `(type, payload)`, the payload bytes-like.

        Raises EOFError when the peer has closed between two frames, ProtocolError when it closed inside one or broke
        the framing, OSError as the socket does.
        """
        while (frame := self.frames.next_frame()) is None:
            self.receive()
        return frame

    def receive(self) -> None:
        """Receive once into `frames`. Raises as `read_frame`."""
        if not self._receive_some():
            self.frames.receive_eof()
            raise EOFError("the peer closed the connection")

    def _receive_some(self) -> int:
        count = self.sock.recv_into(self.frames.get_buffer())
        self.frames.buffer_updated(count)
        return count

    def write_frame(self, kind: int, payload: bytes | bytearray | memoryview) -> None:
        """Send one frame. Raises FrameTooLargeError before anything is sent."""
        view = memoryview(payload).cast("B")
        header = encode_header(kind, len(view))
        with self._writing:
            if len(view) < 1 << 16:
                self.sock.sendall(header + view)
            else:
                self.sock.sendall(header)
                self.sock.sendall(view)

    def write_json(self, value: Any) -> None:
        """Send one JSON frame. The bytes of attachments are no part of it; `write_request` sends them as well."""
        if isinstance(value, Request):
            value = without_blobs(value)
        elif isinstance(value, Attachment):
            value = msgspec.structs.replace(value, data=b"")
        self.write_frame(FRAME_JSON, msgspec.json.encode(value))

    def read_request(self) -> Request:
        """The next request with its blobs.

        Raises EOFError, ProtocolError and OSError as `read_frame`, and WireVersionError or InvalidRequestError for a
        request that must not be read on; after any of them the connection is good for an error frame only.
        """
        reader = self.requests
        while (request := reader.next_request()) is None:
            if not self._receive_some():
                reader.receive_eof()
                raise EOFError("the peer closed the connection")
        return request

    def write_request(self, request: Request) -> None:
        """Send a request and its blobs, in the order of its attachments. Raises as `encode_request`."""
        pieces = encode_request(request)
        with self._writing:
            for piece in pieces:
                self.sock.sendall(piece)

    def close(self) -> None:
        """Close the connection; a read or write under way in another thread fails. May be called twice."""
        self.closed = True
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()
