"""What a host and its workers say to each other.

They speak frames like everybody else, over a socketpair. JSON frames are messages between the two, one of the structs
below. Down go `Job` and `Cancel`; a job's blobs are not in the stream but in shared memory, whose descriptors ride on
its first byte. Up come `Ready` or `Unable` once, then for each job `Started`, the answer, and `Done` or `Failed`. The
answer is blob frames whose payload is the very frames that go to the client: the host passes it on and never looks in.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from warmwire.host.failure import Trace
from warmwire.models.interface import Capabilities
from warmwire.wire.generation.frames import encode_frame
from warmwire.wire.generation.messages import FRAME_JSON, Request, StopReason, Usage
from warmwire.wire.tasks import EmbedRequest, RerankRequest


class WorkerJob(msgspec.Struct, tag="job", omit_defaults=True):
    """One request, in the field of its kind.

    `sizes[i]` is the size in bytes of attachment i's blob; 0 means none, and no descriptor.
    """

    number: int
    request: Request | None = None
    embed: EmbedRequest | None = None
    rerank: RerankRequest | None = None
    sizes: list[int] = msgspec.field(default_factory=list)


class Cancel(msgspec.Struct, tag="cancel"):
    """Nobody waits for that job any more."""

    number: int


class Ready(msgspec.Struct, tag="ready"):
    """The model is loaded."""

    name: str
    capabilities: Capabilities


class Unable(msgspec.Struct, tag="unable"):
    """The model cannot be loaded, and the worker ends."""

    message: str


class Started(msgspec.Struct, tag="started"):
    """The model has the job."""


class Done(msgspec.Struct, tag="done"):
    """The answer is complete. `has_called`: a tool call was in it."""

    stop_reason: StopReason
    usage: Usage
    report: Any = None
    has_called: bool = False


class Failed(msgspec.Struct, tag="failed"):
    """The answer ends with an error; `trace` where it is the model's own."""

    code: str
    message: str
    trace: Trace | None = None


FromHost = WorkerJob | Cancel
FromWorker = Ready | Unable | Started | Done | Failed

_encode: Final = msgspec.json.Encoder().encode
decode_from_host: Final = msgspec.json.Decoder(FromHost).decode
decode_from_worker: Final = msgspec.json.Decoder(FromWorker).decode


def encode_message(message: FromHost | FromWorker) -> bytes:
    """The frame of a message. Raises FrameTooLargeError."""
    return encode_frame(FRAME_JSON, _encode(message))
