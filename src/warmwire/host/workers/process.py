"""A worker: one process, one loaded model, one job at a time on each of its links.

Started by the host as `python -m warmwire.host.workers.process FDS MODEL THREADS`. The main thread runs the model for
the first link; a second one reads the link, so that a cancel arrives while the model computes. A model that answers
several requests at once has as many links, and two more threads for each. When the host goes, the links end and so do
we.
"""

from __future__ import annotations

import os
import queue
import signal
import socket
import sys
import threading
import traceback
from typing import Final

from warmwire.errors import CancelledError, ErrorCode, WarmwireError, sendable
from warmwire.host.failure import trace_of
from warmwire.host.workers.link import (
    Cancel,
    Done,
    Failed,
    Ready,
    Started,
    Unable,
    WorkerJob,
    decode_from_host,
    encode_message,
)
from warmwire.host.workers.outbox import Outbox
from warmwire.host.workers.segments import map_private
from warmwire.models.interface import Model
from warmwire.models.registry import load_model
from warmwire.models.run import run_model
from warmwire.wire.generation.frames import FrameReader
from warmwire.wire.generation.messages import MAX_ATTACHMENTS, OutBlock, Request, StopReason
from warmwire.wire.generation.response import ResponseWriter

_RECEIVE: Final = 1 << 16


class Worker:
    """Serves jobs from a link to a model."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._outbox = Outbox(link)
        self._jobs: queue.SimpleQueue[WorkerJob] = queue.SimpleQueue()
        self._cancels: dict[int, threading.Event] = {}

    def say(self, message: Ready | Unable) -> None:
        """Tell the host how loading went."""
        self._outbox.say(encode_message(message))

    def run(self, model: Model) -> None:
        """Answer jobs until the link ends."""
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            self._answer(self._jobs.get(), model)

    def _listen(self) -> None:
        """Read the link. Ends the process with it: the main thread may be deep inside a model."""
        try:
            self._read_link()
        except ConnectionResetError:  # the host died with something of ours unread
            pass
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _read_link(self) -> None:
        reader = FrameReader()
        descriptors: list[int] = []
        while True:
            data, new, _, _ = socket.recv_fds(self._link, _RECEIVE, MAX_ATTACHMENTS)
            if not data:
                return
            descriptors += new
            for _, payload in reader.receive_data(data):
                message = decode_from_host(payload)
                if isinstance(message, Cancel):
                    if (event := self._cancels.get(message.number)) is not None:  # else it has just been answered
                        event.set()
                    continue
                attachments = message.request.attachments if message.request is not None else []
                for attachment, size in zip(attachments, message.sizes, strict=True):
                    attachment.data = memoryview(map_private(descriptors.pop(0), size))[:size] if size else b""
                self._cancels[message.number] = threading.Event()
                self._jobs.put(message)

    def _answer(self, job: WorkerJob, model: Model) -> None:
        request = job.request or job.embed or job.rerank
        assert request is not None
        writer = ResponseWriter.to(request) if isinstance(request, Request) else ResponseWriter(request.id)
        cancelled = self._cancels[job.number]

        def emit(block: OutBlock) -> None:
            if cancelled.is_set():
                raise CancelledError("the request was cancelled")
            self._outbox.put(writer.block(block))

        self._outbox.say(encode_message(Started()))
        try:
            finish = run_model(model, request, emit, self._outbox.put, cancelled)
            reason = StopReason(finish.stop_reason)
            last = encode_message(Done(reason, finish.usage, finish.report, writer.has_called))
        except WarmwireError as error:
            last = _failed(error.code, str(error))
        except MemoryError:
            last = _failed(ErrorCode.BACKEND_UNAVAILABLE, "the model ran out of memory on this request")
        except Exception as error:
            last = _failed(ErrorCode.INTERNAL, f"{type(error).__name__}: {error}", error)
        del self._cancels[job.number]
        self._outbox.say(last)


def serve_links(links: list[Worker], model_name: str, threads: int) -> None:
    """Load the model, say so on every link, and answer what comes on them."""
    try:
        model = load_model(model_name, threads)
        loaded: Ready | Unable = Ready(model.name, model.capabilities)
    except Exception as error:
        text = str(error) if isinstance(error, WarmwireError) else f"{type(error).__name__}: {error}"
        loaded = Unable(sendable(text))
    for link in links:
        link.say(loaded)
    if isinstance(loaded, Ready):
        for link in links[1:]:
            threading.Thread(target=link.run, args=(model,), daemon=True).start()
        links[0].run(model)


def _failed(code: str, message: str, error: Exception | None = None) -> bytes:
    """The last word of a job; where the model itself failed, it tells the host where."""
    trace = None if error is None else trace_of(error)
    return encode_message(Failed(code, sendable(message), trace))


def main() -> None:
    fds, model, threads = sys.argv[1:]
    # The host decides when a worker ends; a Ctrl-C at the terminal, or a shell's `kill %1`, reaches the whole group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.dup2(2, 1)  # stdout is the host's; what libraries print belongs to stderr
    links = [Worker(socket.socket(fileno=int(fd))) for fd in fds.split(",")]
    try:
        serve_links(links, model, int(threads))
    except (BrokenPipeError, ConnectionResetError):
        pass  # the host has gone


if __name__ == "__main__":
    main()
