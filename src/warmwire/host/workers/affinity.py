"""Which worker knows the beginning of a request already.

A language model keeps what it has computed of its last prompts, so the next turn of a conversation begins almost at
once, if it comes to the worker that had the one before. A host does not know tokens, but it knows messages: a worker is
remembered by a hash of each beginning of the conversations that it was given last.
"""

from __future__ import annotations

from collections import deque
from itertools import accumulate, takewhile
from typing import Final

from warmwire.host.generation.runner import AnyRequest
from warmwire.wire.generation.messages import Message, Request

_REQUESTS: Final = 8


def beginnings(request: AnyRequest) -> list[int]:
    """A hash of the first message, of the first two, and so on. None of a request with media: its texts say little."""
    if not isinstance(request, Request) or request.attachments:
        return []
    hashes = accumulate(request.messages, lambda before, message: hash((before, _hash(message))), initial=0)
    return list(hashes)[1:]


def _hash(message: Message) -> int:
    return hash((message.role, tuple((block.type, block.text, block.tool_call_id) for block in message.content)))


class Known:
    """What the requests that a worker process was given last begin with."""

    def __init__(self) -> None:
        self._last: deque[frozenset[int]] = deque(maxlen=_REQUESTS)

    def add(self, asked: list[int]) -> None:
        """Such a request has been given to it."""
        self._last.append(frozenset(asked))

    def common(self, asked: list[int]) -> int:
        """How many messages at the beginning of a request were in one of them."""
        return max((sum(1 for _ in takewhile(one.__contains__, asked)) for one in self._last), default=0)
