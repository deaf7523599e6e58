"""What a host and its workers say to each other.

They speak frames like everybody else, over a socketpair. Down go `Job` and `Cancel`; a job's blobs are not in the
stream but in shared memory, whose descriptors ride on its first byte. Up come `Response`s: `ready` (with the model's
name and capabilities) or `failed` once, then for each job `started`, the encoded answer, which the host passes on as
it is, and `done` or `error`. The line that answers an embeddings or rerank request comes as a blob frame.
"""

from __future__ import annotations

from typing import Final

import msgspec

from warmwire.wire.messages import Request
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
