"""What a host and its workers say to each other.

They speak frames like everybody else, over a socketpair. Down go `Job` and `Cancel`; a job's blobs are not in the
stream but in shared memory, whose descriptors ride on its first byte. Up come `Response`s: `ready` (with the model's
name and capabilities) or `failed` once, then for each job `started`, the bytes of the answer in blob frames, which the
host passes on unread, and `done` or `error`. Where the model itself failed, the error's `report` is a `Trace`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from warmwire.wire.generation.messages import Request
from warmwire.wire.tasks import EmbedRequest, RerankRequest

READY: Final = "ready"
FAILED: Final = "failed"
STARTED: Final = "started"


class Job(msgspec.Struct, tag="job", omit_defaults=True):
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


encode: Final = msgspec.json.Encoder().encode
decode: Final = msgspec.json.Decoder(Job | Cancel).decode
